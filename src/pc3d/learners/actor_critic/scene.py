"""What a gradient step looks at: episodes from a replay, the draws of a step, and what it takes as it is."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Shaped

from pc3d.learners.experience import Counts, decisions_of, seen_in, sum_of
from pc3d.learners.optimiser import Left
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.build import Networks
from pc3d.networks.critics import TeamView
from pc3d.play.episode import Episode

NOW, NEXT = slice(None, -1), slice(1, None)  # moments of a step's decision, and of what came of it


class Drawn(eqx.Module):
    """What is cut into minibatches and pieces."""

    episodes: Episode
    noise: Float[Array, "episode moment agent action"]


class Given(eqx.Module):
    """What a gradient step takes as it is."""

    slow: Networks
    scale: ValueScale
    temperature: Float[Array, ""] | None
    roster_changes: bool = eqx.field(static=True)
    left: Left = 1.0
    """Of the run."""


class Scene(eqx.Module):
    """Some episodes of a minibatch, ready to be valued."""

    episodes: Episode
    noise: Float[Array, "episode moment agent action"]
    seen: Float[Array, "episode moment agent observation"]
    decisions: Bool[Array, "episode time agent"]
    counts: Counts
    given: Given

    @staticmethod
    def of(drawn: Drawn, counts: Counts, given: Given) -> "Scene":
        episodes = drawn.episodes
        return Scene(episodes, drawn.noise, seen_in(episodes), decisions_of(episodes), counts, given)

    @property
    def present(self) -> Bool[Array, "episode moment agent"]:
        return jnp.asarray(self.episodes.present)

    @property
    def taken(self) -> Float[Array, "episode time agent action"]:
        """What everybody did."""
        return jax.nn.one_hot(self.episodes.actions, self.noise.shape[-1])

    def view(self, moments: slice, actions: Float[Array, "episode time agent action"]) -> TeamView:
        """What a critic is shown of some moments, if that is what everybody does."""
        states = self.episodes.global_states
        state = None if states is None else jnp.asarray(states[:, moments])
        return TeamView(self.seen[:, moments], self.present[:, moments], None, state, actions=actions)

    def mean_over_steps(self, values: Shaped[Array, "episode time"]) -> Float[Array, ""]:
        """What these episodes add to a mean over the minibatch's steps of teams,"""
        return sum_of(values, jnp.asarray(self.episodes.played)) / self.counts.team_steps

    def mean_over_agents(self, values: Shaped[Array, "episode time agent"]) -> Float[Array, ""]:
        """and over its valid agent-time pairs."""
        return sum_of(values, self.decisions) / self.counts.decisions
