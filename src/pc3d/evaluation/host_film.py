"""Films of worlds on the host, which draw themselves: a picture of every moment as it is played."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jaxtyping import Array, Key

from pc3d.evaluation.film import Picture
from pc3d.evaluation.recording import Recording, record
from pc3d.play.arena import HostedArena
from pc3d.play.hosted.worlds import CrewWorlds, Views
from pc3d.runs.policy import Policy
from pc3d.tasks.task import Outcome


def film_on_host(
    policy: Policy, arena: HostedArena, key: Key[Array, " episode"], team_size: int, *, greedy: bool
) -> tuple[Recording, list[Picture]]:
    """One episode and its pictures, the start first."""
    filmed = _FilmedArena(arena.game.with_slots(team_size), arena.crew)
    recording = record(filmed, policy.networks, key, team_size, greedy=greedy)
    return recording.one(0), filmed.pictures


@dataclass(frozen=True)
class _FilmedArena(HostedArena):
    pictures: list[Picture] = field(default_factory=list)

    def worlds(self) -> CrewWorlds:
        return _FilmedWorlds(self)


class _FilmedWorlds(CrewWorlds):
    """A single episode that is drawn when it begins and after every step."""

    def __init__(self, arena: _FilmedArena) -> None:
        super().__init__(arena.crew, arena.game)
        self._pictures = arena.pictures

    def begin(self, *given: Any) -> Views:
        views = super().begin(*given)
        self._pictures.append(self.crew.picture(0))
        return views

    def step(self, *given: Any) -> tuple[Views, Outcome]:
        stepped = super().step(*given)
        self._pictures.append(self.crew.picture(0))
        return stepped
