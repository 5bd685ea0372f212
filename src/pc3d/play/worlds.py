"""Worlds of several episodes side by side: those of a JAX task, as pure functions of their states."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import jax
from jaxtyping import Array, Bool, Float, Int, Key, Num

from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.task import AnyTask, Game, Outcome

State = Any


@runtime_checkable
class Worlds(Protocol):
    """What is played in; a state stands for all of the episodes at once."""

    @property
    def game(self) -> Game: ...

    def begin(
        self,
        keys: Key[Array, " episode"],
        team_sizes: Int[AnyArray, " episode"],
        following: Bool[AnyArray, "episode agent"] | None = None,
    ) -> State:
        """The starts, with those agents if any are named."""

    def present(self, state: State) -> Bool[AnyArray, "episode agent"]:
        """Who is there now."""

    def observe(self, state: State) -> Float[AnyArray, "episode agent observation"]: ...

    def allowed(self, state: State) -> Bool[AnyArray, "episode agent action"] | None:
        """Who may take which action now; None if the game has no masks."""

    def visible(self, state: State) -> Bool[AnyArray, "episode agent agent"]:
        """Who sees whom; whoever is there sees itself."""

    def step(
        self,
        going: Bool[AnyArray, " episode"],
        keys: Key[Array, " episode"],
        state: State,
        actions: Num[AnyArray, "episode agent *number"],
        following: Bool[AnyArray, "episode agent"] | None = None,
    ) -> tuple[State, Outcome]:
        """One step of the episodes that are still going; what comes of the others does not matter.

        After it those agents are there, if any are named.
        """

    def global_state(self, state: State) -> Float[AnyArray, "episode state"]: ...


method_compiled = partial(jax.jit, static_argnums=0)


@dataclass(frozen=True)
class TaskWorlds:
    """A task's worlds; hashable, so that they are static to `jax.jit`.

    Every method is compiled by itself, for teams that cannot be compiled together with them.
    """

    game: AnyTask

    @method_compiled
    def begin(
        self,
        keys: Key[Array, " episode"],
        team_sizes: Int[Array, " episode"],
        following: Bool[Array, "episode agent"] | None = None,
    ) -> State:
        return jax.vmap(self.game.begin)(keys, team_sizes, following)

    @method_compiled
    def present(self, state: State) -> Bool[Array, "episode agent"]:
        return jax.vmap(self.game.present)(state)

    @method_compiled
    def observe(self, state: State) -> Float[Array, "episode agent observation"]:
        return jax.vmap(self.game.shown)(state)

    @method_compiled
    def allowed(self, state: State) -> Bool[Array, "episode agent action"] | None:
        return jax.vmap(self.game.available_actions)(state) if self.game.action_space.masked else None

    @method_compiled
    def visible(self, state: State) -> Bool[Array, "episode agent agent"]:
        return jax.vmap(lambda one: self.game.entities(one).visible[:, : self.game.slots])(state)

    @method_compiled
    def step(
        self,
        going: Bool[Array, " episode"],
        keys: Key[Array, " episode"],
        state: State,
        actions: Num[Array, "episode agent *number"],
        following: Bool[Array, "episode agent"] | None = None,
    ) -> tuple[State, Outcome]:
        del going  # a step too many does no harm here
        return jax.vmap(self.game.advance)(keys, state, actions, following)

    @method_compiled
    def global_state(self, state: State) -> Float[Array, "episode state"]:
        return jax.vmap(self.game.whole)(state)
