"""Films of worlds on the host, which draw themselves: a picture of every moment as it is played."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int, PRNGKeyArray

from pc3d.evaluation.film import Frame
from pc3d.evaluation.recording import Recording, record_on_host
from pc3d.hosted.crew import Crew
from pc3d.lockstep import Actions, CrewWorlds, Keys
from pc3d.policy import Policy
from pc3d.tasks.task import Game, Outcome


def film_on_host(
    policy: Policy, crew: Crew, key: PRNGKeyArray, team_size: int, *, greedy: bool
) -> tuple[Recording, list[Frame]]:
    """One episode and its pictures, the start first."""
    pictures: list[Frame] = []

    def begin(game: Game, keys: Keys, team_sizes: Int[np.ndarray, " episode"]) -> CrewWorlds:
        return _FilmedWorlds(pictures, crew, game, keys, team_sizes)

    task = policy.task.with_slots(team_size)
    recording = record_on_host(task, policy.actor, policy.teacher, key, team_size, begin, greedy=greedy)
    return recording.one(0), pictures


class _FilmedWorlds(CrewWorlds):
    """A single episode that is drawn when it begins and after every step."""

    def __init__(
        self,
        pictures: list[Frame],
        crew: Crew,
        game: Game,
        keys: Keys,
        team_sizes: Int[np.ndarray, " episode"],
    ) -> None:
        super().__init__(crew, game, keys, team_sizes)
        self._pictures, self._camera = pictures, crew
        pictures.append(crew.picture(0))

    def step(self, going: Bool[np.ndarray, " episode"], keys: Keys, actions: Actions) -> Outcome:
        outcome = super().step(going, keys, actions)
        self._pictures.append(self._camera.picture(0))
        return outcome
