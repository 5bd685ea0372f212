"""An arena is where episodes are played: a game, and whoever steps its worlds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar, runtime_checkable

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Int, Key

from pc3d.experiment.roster_process import CONSTANT, RosterProcess
from pc3d.play.episode import Episode
from pc3d.play.hosted.crew import Crew
from pc3d.play.hosted.worlds import CrewWorlds, Picture
from pc3d.play.loop import play, play_on_host
from pc3d.play.rota import Rota
from pc3d.play.team import Team
from pc3d.play.worlds import TaskWorlds, Worlds
from pc3d.system.errors import BadInput
from pc3d.tasks.make import playable
from pc3d.tasks.task import Game

Seen = TypeVar("Seen")
Look = Callable[[Game, Episode, Any], Seen]  # what is wanted of played episodes, from them and something else


@runtime_checkable
class Arena(Protocol):
    """Worlds that are compiled, or stepped on the host."""

    @property
    def game(self) -> Game: ...

    @property
    def compiled(self) -> bool:
        """Whether its worlds can be part of a compiled program."""

    def with_slots(self, slots: int) -> Arena:
        """The same game, padded to another width."""

    def with_roster(self, roster: RosterProcess) -> Arena:
        """The same game, whose team changes by a process."""

    def worlds(self) -> Worlds: ...


@dataclass(frozen=True)
class CompiledArena:
    """The worlds of a JAX task."""

    game: Game
    compiled: bool = True

    def with_slots(self, slots: int) -> CompiledArena:
        return replace(self, game=self.game.with_slots(slots))

    def with_roster(self, roster: RosterProcess) -> CompiledArena:
        return replace(self, game=self.game.with_roster(roster))

    def worlds(self) -> TaskWorlds:
        return TaskWorlds(playable(self.game))


@dataclass(frozen=True)
class HostedArena:
    """Worlds of Python objects, stepped by a crew of worker processes."""

    game: Game
    crew: Crew
    film: list[Picture] | None = None
    """Where pictures of the first episode go, one of every moment as it is played."""
    compiled: bool = False

    def with_slots(self, slots: int) -> HostedArena:
        return replace(self, game=self.game.with_slots(slots))

    def with_roster(self, roster: RosterProcess) -> HostedArena:
        if roster != CONSTANT:
            raise BadInput("worlds on the host keep their teams as they are: only our own can change them")
        return self

    def worlds(self) -> CrewWorlds:
        return CrewWorlds(self.crew, self.game, self.film)


def wide_for(arena: Arena, team_size: int) -> Arena:
    """The same game, with the slots that a team needs that begins with so many agents."""
    return arena.with_slots(arena.game.slots_for(team_size))


def played(
    arena: Arena,
    team: Team,
    keys: Key[Array, " episode"],
    team_sizes: Int[np.ndarray, " episode"],
    look: Look[Seen],
    beside: Any = None,
    rota: Rota | None = None,
) -> Seen:
    """Play these episodes and look at them, in one program where worlds and team can be compiled.

    By a rota if one is given, else by what the game's roster process draws.
    """
    worlds = arena.worlds()
    if isinstance(worlds, TaskWorlds) and isinstance(team, eqx.Module):
        seen: Seen = jax.device_get(_in_one_program(worlds, look, team, keys, team_sizes, beside, rota))
        return seen
    return jax.device_get(look(arena.game, play_on_host(worlds, team, keys, team_sizes, rota=rota), beside))


@partial(jax.jit, static_argnums=(0, 1))
def _in_one_program(
    worlds: TaskWorlds,
    look: Look[Seen],
    team: Any,
    keys: Key[Array, " episode"],
    team_sizes: Array,
    beside: Any,
    rota: Rota | None,
) -> Seen:
    return look(worlds.game, play(worlds, team, keys, team_sizes, rota=rota), beside)
