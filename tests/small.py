"""Small experiments and made-up teams for tests."""

from collections.abc import Iterable
from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest

from pc3d.experiment.actor_critic_settings import MaddpgSettings, MasacSettings, Matd3Settings
from pc3d.experiment.copa_settings import CopaSettings
from pc3d.experiment.ctds_settings import CtdsSettings
from pc3d.experiment.entity_settings import EntityQSettings, RefilSettings
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.graph_settings import GraphSettings
from pc3d.experiment.happo_settings import HappoSettings
from pc3d.experiment.methods import METHODS
from pc3d.experiment.mipi_settings import MipiSettings
from pc3d.experiment.network_settings import ActorSettings, CriticSettings
from pc3d.experiment.ppo_settings import PpoSettings
from pc3d.experiment.ptde_settings import PtdeSettings
from pc3d.experiment.q_learning_settings import QLearningSettings
from pc3d.experiment.sog_settings import SogSettings
from pc3d.presets import paper as experiments

PPO_METHODS = [
    name
    for name, row in METHODS.items()
    if issubclass(row.algorithm, PpoSettings) and row.algorithm is not PtdeSettings
]
HAPPO_METHODS = [name for name, row in METHODS.items() if row.algorithm is HappoSettings]
Q_METHODS = [name for name, row in METHODS.items() if row.algorithm is QLearningSettings]
OFF_POLICY_METHODS = [
    name for name, row in METHODS.items() if issubclass(row.algorithm, MaddpgSettings | MasacSettings)
]
KINDS = (
    *("ippo", "pc3d", "pc3d-happo", "graph", "vdn", "pc3d-qmix", "maddpg", "pc3d-masac"),
    *("ptde", "ctds", "mipi"),
)
ENTITY_METHODS = [name for name, row in METHODS.items() if issubclass(row.algorithm, EntityQSettings)]
FLAT_METHODS = [name for name in METHODS if name not in ENTITY_METHODS]


def one_of_each_kind(methods: Iterable[str] = METHODS) -> list:
    """A test's parameters: what methods share is shown by one of each kind, all others by make test-slow."""
    return [name if name in KINDS else pytest.param(name, marks=pytest.mark.slow) for name in methods]


SMALL_Q = {
    **{"batch_size": 2, "gradient_steps": 2, "capacity": 7},
    **{"mixing_width": 6, "hypernetwork_widths": (8,)},
}
SMALL_ATTENTION = {"attention_width": 8, "attention_heads": 2}
SMALL_TEAM_ENCODER = {"team_encoder_widths": (8,), "team_encoding": 6}
SMALL = {
    **{
        kind: {"batch_size": 2, "gradient_steps": 2, "capacity": 7}
        for kind in (MaddpgSettings, Matd3Settings, MasacSettings)
    },
    PpoSettings: {"batch_size": 2, "epochs": 2},
    HappoSettings: {"batch_size": 2, "epochs": 2},
    GraphSettings: {"batch_size": 2, "epochs": 2},
    PtdeSettings: {
        **SMALL_TEAM_ENCODER,
        **{"batch_size": 2, "epochs": 2, "student_batch_size": 2, "personal_width": 4},
    },
    QLearningSettings: SMALL_Q,
    CtdsSettings: {**SMALL_Q, **SMALL_TEAM_ENCODER},
    MipiSettings: SMALL_Q,
    **{kind: {**SMALL_Q, **SMALL_ATTENTION} for kind in (EntityQSettings, RefilSettings, SogSettings)},
    CopaSettings: {**SMALL_Q, **SMALL_ATTENTION, "broadcast_width": 4},
}


def small_experiment(method: str, task: str = "spread", **changes) -> Experiment:
    """The paper's experiment with narrow networks, so that compiling is most of the work."""
    experiment = experiments.paper(task, method)
    critic = replace(experiment.critic, widths=(16,), set_embed_dim=8, set_encoder_widths=(16,), tokens=3)
    actor = ActorSettings(widths=(16, 12), rnn_dim=10)
    algorithm = replace(experiment.algorithm, update_every_episodes=3, **SMALL[type(experiment.algorithm)])
    recipe = replace(experiment.recipe, environments=1)
    return replace(
        experiment, **{"actor": actor, "critic": critic, "algorithm": algorithm, "recipe": recipe, **changes}
    )


def random_team(key: int, *shape: int) -> jax.Array:
    return jax.random.normal(jax.random.key(key), shape)


def active_team(size: int, slots: int) -> jax.Array:
    return jnp.arange(slots) < size


def critic_settings() -> CriticSettings:
    return CriticSettings((16,), 8, (16,), team_size_feature=True, tokens=3)
