"""An actor for each slot, in the place of one for all: for teams of one size."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pc3d.networks.actor import Actor
from pc3d.networks.conditioning import PolicyOutput
from pc3d.system.errors import BadInput


class SeparateActors(Actor):
    """All arrays have an axis over slots in front; rows of agents come team by team, in order of slots."""

    @property
    def slots(self) -> int:
        return self.memory.from_memory.bias.shape[0]

    def first_memory(self, *rows: int) -> Float[Array, "*rows h"]:
        if rows[-1] != self.slots:
            raise BadInput(
                f"each of {self.slots} agents has an actor of its own here: "
                f"they can be a team of {self.slots}, not of {rows[-1]}"
            )
        return super().first_memory(*rows)

    def recall(
        self, memory: Float[Array, "... h"], observation: Float[Array, "... observation"]
    ) -> Float[Array, "... h"]:
        return self._by_slot(Actor.recall, memory, observation)

    def remember(
        self,
        memory: Float[Array, "*rows h"],
        observations: Float[Array, "time *rows observation"],
        fresh: Bool[Array, " time *rows"] | None = None,
    ) -> Float[Array, "time *rows h"]:
        assert fresh is None, "who joins later would need an actor"
        return self._by_slot(Actor.remember, memory, observations)

    def says(self, features: Float[Array, "... h"]) -> PolicyOutput:
        return self._by_slot(Actor.says, features)

    def _by_slot(self, ask: Callable[..., Any], *parts: Array) -> Any:
        """Ask every row's own actor; rows are the last axis but one, and the last team may lack some."""
        rows, slots = parts[0].shape[-2], self.slots
        fillers = -rows % slots

        def apart(part: Array) -> Array:
            padded = jnp.pad(part, [(0, 0)] * (part.ndim - 2) + [(0, fillers), (0, 0)])
            return padded.reshape(*part.shape[:-2], -1, slots, part.shape[-1])

        def together(part: Array) -> Array:
            return part.reshape(*part.shape[:-3], rows + fillers, part.shape[-1])[..., :rows, :]

        by_slot = jax.vmap(ask, in_axes=(0, *(-2 for _ in parts)), out_axes=-2)
        return jax.tree.map(together, by_slot(self, *map(apart, parts)))
