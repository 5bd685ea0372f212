"""A JAX task by import path, and versions that break a promise."""

from dataclasses import dataclass

import jax.numpy as jnp
from PIL import Image

from tests.probes import ActionReward, Aim


@dataclass(frozen=True)
class Good(ActionReward):
    """The probe, with nothing in slots that nobody fills."""

    def observe(self, state):
        return jnp.where(self.present(state)[:, None], super().observe(state), 0)

    def draw(self, state, *, size=480, show_range=False):
        return Image.new("RGB", (size, size // 2))


@dataclass(frozen=True)
class CountsEverybody(Good):
    """Slots that nobody fills count in the team's mean."""

    def share(self, state, good):
        return jnp.mean(good.astype(float))


@dataclass(frozen=True)
class ShowsGhosts(ActionReward):
    """Slots that nobody fills see something."""


@dataclass(frozen=True)
class RewardsEach(Good):
    def reward(self, state, actions):
        return jnp.zeros(self.slots)


@dataclass(frozen=True)
class DecidesInPython(Good):
    def reward(self, state, actions):
        return 1.0 if state.time > 2 else 0.0


@dataclass(frozen=True)
class Aiming(Aim):
    """A task of real numbers, with nothing in slots that nobody fills."""

    def observe(self, state):
        return jnp.where(self.present(state)[:, None], super().observe(state), 0)


@dataclass(frozen=True)
class AllowsNothing(Good):
    """The first agent is allowed nothing at the third moment."""

    masks_actions = True

    def available_actions(self, state):
        stuck = (state.time == 2) & (jnp.arange(self.slots) == 0)
        return jnp.broadcast_to(~stuck[:, None], (self.slots, 2))


@dataclass(frozen=True)
class AllowsNothingAfterTheEnd(Good):
    masks_actions = True

    def available_actions(self, state):
        return jnp.broadcast_to(state.time < self.horizon, (self.slots, 2))
