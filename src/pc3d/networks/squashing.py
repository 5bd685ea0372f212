"""From what a policy head says to real numbers within bounds: a normal distribution, squashed by tanh.

The deviations are parameters of their own that depend on nothing seen, as is usual for PPO: a head that could
narrow them where it likes to would do so long before it knows what is good there.
"""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from pc3d.experiment.action_space import Box
from pc3d.tasks.arrays import AnyArray

FIRST_DEVIATION = 1.0  # before squashing: the first policy reaches nearly all of the box
HALF_A_DRAW = 2.0**-24  # of uniform draws in 32 bits: 0 and 1 have no normal number
NEARLY_ONE = 1 - 1e-6  # nearer to a bound 32 bits cannot tell what was squashed
LOG_TWO, LOG_ROOT = float(np.log(2)), float(0.5 * np.log(2 * np.pi))
# Hermite's rule for the mean over a standard normal number.
NODES, _weights = np.polynomial.hermite_e.hermegauss(16)
WEIGHTS = _weights / _weights.sum()

vector = partial(np.array, dtype=np.float32)


class Squashing(eqx.Module):
    """Each number by itself: a = middle + half · tanh(u), where u is normal around what the head says."""

    log_deviation: Float[Array, " number"]
    box: Box = eqx.field(static=True)

    @classmethod
    def fresh(cls, box: Box) -> Squashing:
        return cls(jnp.full(box.width, jnp.log(FIRST_DEVIATION)), box)

    @property
    def middle(self) -> Float[np.ndarray, " number"]:
        return (vector(self.box.high) + vector(self.box.low)) / 2

    @property
    def half(self) -> Float[np.ndarray, " number"]:
        """Half of each number's range."""
        return (vector(self.box.high) - vector(self.box.low)) / 2

    def squashed(self, before: Float[Array, "... number"]) -> Float[Array, "... number"]:
        """The action; within the bounds however it is rounded."""
        action = self.middle + self.half * jnp.tanh(before)
        return jnp.clip(action, vector(self.box.low), vector(self.box.high))

    def before(self, actions: Float[Array, "... number"]) -> Float[Array, "... number"]:
        """What was squashed, from the action: finite on the bounds, too."""
        share = (actions - self.middle) / self.half
        return jnp.arctanh(jnp.clip(share, -NEARLY_ONE, NEARLY_ONE))

    def decide(
        self,
        means: Float[Array, "*rows number"],
        chances: Float[AnyArray, "*rows number"],
        allowed: Bool[AnyArray, "..."] | None = None,
        *,
        greedy: bool = False,
    ) -> tuple[Float[Array, "*rows number"], Float[Array, "*rows"]]:
        """The actions that these uniform draws stand for (or the squashed means), and their log-densities.

        Numbers have no masks.
        """
        del allowed
        noise = jnp.zeros_like(means) if greedy else normal_numbers(chances)
        actions = self.squashed(means + jnp.exp(self.log_deviation) * noise)
        return actions, self.distribution(means).log_probability(actions)

    def distribution(
        self, means: Float[Array, "*rows number"], allowed: Bool[AnyArray, "..."] | None = None
    ) -> SquashedNormal:
        """What actions are drawn from."""
        del allowed
        return SquashedNormal(means, self)


class SquashedNormal(eqx.Module):
    """How likely actions around some means are."""

    means: Float[Array, "*rows number"]
    squashing: Squashing

    def log_probability(self, actions: Float[Array, "*rows number"]) -> Float[Array, "*rows"]:
        """The log of the density."""
        before, log_deviation = self.squashing.before(actions), self.squashing.log_deviation
        apart = (before - self.means) * jnp.exp(-log_deviation)
        normal = -0.5 * apart**2 - log_deviation - LOG_ROOT
        return jnp.sum(normal - log_slope(before) - np.log(self.squashing.half), axis=-1)

    def entropy(self) -> Float[Array, "*rows"]:
        """Of the squashed distribution, which has no closed form: the normal one's and the mean of log da/du.

        Not the normal one's alone: it grows with the deviation for ever, and actions pile up on the bounds.
        """
        log_deviation = self.squashing.log_deviation
        normal = log_deviation + LOG_ROOT + 0.5
        reached = self.means[..., None] + jnp.exp(log_deviation)[:, None] * vector(NODES)
        slope = jnp.sum(log_slope(reached) * vector(WEIGHTS), axis=-1)
        return jnp.sum(normal + slope + np.log(self.squashing.half), axis=-1)


def log_slope(before: Float[Array, "..."]) -> Float[Array, "..."]:
    """log(1 − tanh²u), of numbers of any size: the square would be rounded to 1."""
    return 2 * (LOG_TWO - before - jax.nn.softplus(-2 * before))


def normal_numbers(chances: Float[AnyArray, "..."]) -> Float[Array, "..."]:
    """The standard normal numbers that uniform draws stand for."""
    inside = jnp.minimum(jnp.asarray(chances) + HALF_A_DRAW, 1 - HALF_A_DRAW)
    return jax.scipy.special.ndtri(inside)
