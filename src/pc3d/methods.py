"""The methods of the paper: each is a row of a table over one backbone, never a copied file."""

from dataclasses import dataclass, replace

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from pc3d.errors import BadInput, unknown_name
from pc3d.networks.actor import Actor
from pc3d.networks.conditioning import (
    Conditioning,
    ContextConditioning,
    GatedFilm,
    GateMode,
    HyperHead,
    PlainHead,
    StudentContext,
)
from pc3d.networks.critics import Critic, CriticInputs, JointCritic, LocalCritic, MeanCritic, TokenCritic
from pc3d.networks.layers import drawn_uniformly
from pc3d.settings import Experiment
from pc3d.tasks import playable
from pc3d.tasks.task import Game


@dataclass(frozen=True)
class Method:
    """What a method has; everything else is the same for all."""

    summary: str
    critic: type[Critic]
    conditioning: type[Conditioning] = PlainHead
    gate: GateMode = "adaptive"
    distils: bool = False

    def __post_init__(self) -> None:
        if self.distils and not (self.has_context and self.critic.teaches):
            raise BadInput(
                "a method that distils needs a critic with a teacher and a conditioning with a context"
            )

    @property
    def has_context(self) -> bool:
        return issubclass(self.conditioning, ContextConditioning)


PC3D = Method("tokens, distilled contexts, gated FiLM", TokenCritic, conditioning=GatedFilm, distils=True)
METHODS = {
    "ippo": Method("independent learners with a local value", LocalCritic),
    "mappo": Method("the backbone: a critic over all observations, padded", JointCritic),
    "pic": Method("PIC-MAPPO: a critic over the mean of encodings", MeanCritic),
    "pc3d": PC3D,
    "gate-off": replace(PC3D, summary="ablation: context distilled, never used", gate="off"),
    "gate-on": replace(PC3D, summary="ablation: context always used in full", gate="on"),
    "a-mappo": replace(PC3D, summary="ablation: no distillation", distils=False),
    "hyper-pc3d": replace(PC3D, summary="the context changes the policy head", conditioning=HyperHead),
}


class Networks(eqx.Module):
    """All that is trained."""

    actor: Actor
    critic: Critic


def method_named(name: str) -> Method:
    """The method of that name, or a sentence that names the ones there are."""
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name]


def build(key: PRNGKeyArray, experiment: Experiment, task: Game) -> Networks:
    """Fresh networks for an experiment."""
    actor_key, critic_key, head_key, student_key = jax.random.split(key, 4)
    method, actor = method_named(experiment.method), experiment.actor
    activation = experiment.recipe.activation
    conditioning = _conditioning(head_key, student_key, experiment, task.action_count)
    inputs = CriticInputs(
        observation=task.observation_width,
        features=actor.rnn_dim,
        global_state=_global_state_width(task) if experiment.critic.global_state else 0,
        largest_team=experiment.rosters.largest,
        activation=activation,
    )
    networks = Networks(
        actor=Actor(actor_key, task.observation_width, actor, activation, conditioning),
        critic=method.critic(critic_key, inputs, experiment.critic),
    )
    if experiment.recipe.initialisation == "uniform":
        return drawn_uniformly(jax.random.fold_in(key, 4), networks)  # the four before are taken
    return networks


def _conditioning(
    head_key: PRNGKeyArray, student_key: PRNGKeyArray, experiment: Experiment, actions: int
) -> Conditioning:
    method, features = method_named(experiment.method), experiment.actor.rnn_dim
    if not issubclass(method.conditioning, ContextConditioning):
        return method.conditioning(head_key, features, actions)
    context = experiment.critic.set_embed_dim
    student = StudentContext(
        student_key, features, context, method.gate, experiment.distillation, experiment.recipe
    )
    return method.conditioning(head_key, features, actions, student)


def _global_state_width(game: Game) -> int:
    task = playable(game)
    state = jax.eval_shape(lambda: task.global_state(task.reset(jax.random.key(0), task.slots)))
    return int(state.size)
