"""Two methods of your own: a class for what is new about one (if anything is), and a row for each.

Python runs this file; the command line takes it with `pc3d --with new_method train spread peak`.
"""

from dataclasses import replace
from tempfile import mkdtemp

import jax
import jax.numpy as jnp

import pc3d
from pc3d.evaluation.run import EvaluationSettings
from pc3d.experiment import methods
from pc3d.experiment.rosters import Curriculum, Stage
from pc3d.networks import critics
from pc3d.networks.layers import Mlp


class PeakCritic(critics.Critic):
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
        peak = jnp.max(encodings, axis=-2, where=view.present[..., None], initial=-jnp.inf)
        return self.head(peak)[..., 0]


PIC = methods.METHODS["pic"]
CRITICS = {"peak": PeakCritic}
METHODS = {
    "peak": replace(PIC, title="Peak", summary="the largest encodings", parent="pic", critic="peak"),
    "film": replace(PIC, title="FiLM", summary="FiLM, but no teacher", parent="pic", conditioning="film"),
}

if __name__ == "__main__":
    critics.CRITICS.update(CRITICS)
    methods.METHODS.update(METHODS)
    curriculum = Curriculum((Stage(1.0, team_sizes=(1, 2), probabilities=(0.4, 0.6)),))
    for method in METHODS:
        experiment = replace(pc3d.paper("spread", method, episodes=80), curriculum=curriculum)
        run = pc3d.train(experiment, mkdtemp())
        settings = EvaluationSettings(rollouts=32)
        for size, returns in pc3d.evaluate(run.path, team_sizes=(2, 3), settings=settings).items():
            print(f"{method}, {size} agents: {returns.mean():.1f} on average")
