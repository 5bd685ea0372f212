"""A method of your own: a class for what is new about it (if anything is), and one row to name it."""
# ruff: noqa: E402  (threads are pinned before anything imports JAX)

from pc3d.system import threads

threads.pin()

from dataclasses import replace
from tempfile import mkdtemp

import jax
import jax.numpy as jnp

from pc3d.presets import paper as experiments
from pc3d.play.scores import returns_by_size
from pc3d.experiment.methods import METHODS, Method
from pc3d.networks.conditioning import GatedFilm
from pc3d.networks.critics import Critic
from pc3d.networks.layers import Mlp
from pc3d.runs.policy import load_policy
from pc3d.experiment.rosters import Curriculum, Stage
from pc3d.runs.train import train


class PeakCritic(Critic):
    """Where PIC takes the mean of the agents' encodings, this takes the largest of each number."""

    encoder: Mlp
    head: Mlp

    def __init__(self, key, inputs, settings):
        encoder_key, head_key = jax.random.split(key)
        widths = (inputs.observation, *settings.set_encoder_widths, settings.set_embed_dim)
        self.encoder = Mlp(encoder_key, widths, inputs.activation)
        self.head = Mlp(head_key, (settings.set_embed_dim, *settings.widths, 1), inputs.activation)

    def __call__(self, view):
        encodings = self.encoder(view.clean_observations)
        peak = jnp.max(encodings, axis=-2, where=view.active[..., None], initial=-jnp.inf)
        return self.head(peak)[..., 0]


METHODS["peak"] = Method("a critic over the largest encodings", PeakCritic)
METHODS["film"] = replace(METHODS["pic"], summary="gated FiLM, but no teacher", conditioning=GatedFilm)

pic = experiments.paper("spread", "pic", episodes=80)  # both take PIC's settings
curriculum = Curriculum((Stage(1.0, team_sizes=(1, 2), probabilities=(0.4, 0.6)),))
for method in ("peak", "film"):
    experiment = replace(pic, method=method, curriculum=curriculum)
    policy = load_policy(train(experiment, mkdtemp()).path)
    for size, returns in returns_by_size(policy.task, policy.actor, (2, 3), rollouts=32).items():
        print(f"{method}, {size} agents: {returns.mean():.1f} on average")
