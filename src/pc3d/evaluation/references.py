"""Players to compare with that never learned: random, standing still, and one script per task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from pc3d.evaluation.lockstep import PortWorlds
from pc3d.evaluation.scores import Scores, score_team
from pc3d.evaluation.scripted.foraging import gather
from pc3d.evaluation.scripted.spread import cover
from pc3d.evaluation.scripted.warehouse import deliver
from pc3d.evaluation.starts import rollout_keys
from pc3d.hosted.crew import Crew
from pc3d.lockstep import Actions, Team, Worlds, on_host
from pc3d.rollout import choose
from pc3d.tasks.task import Game

# A script sees the whole state of one episode and acts for everybody in it.
Script = Callable[[Any], Int[np.ndarray, " agent"]]
SCRIPTS: dict[str, Script] = {"spread": cover, "lbf": gather, "rware": deliver}
STAY = 0  # in the three built-in tasks the first action does nothing


class RandomTeam:
    """All actions equally likely, by the draws that a policy's actions would use."""

    def __init__(self, action_count: int) -> None:
        self._action_count = action_count

    def act(self, worlds: Worlds, chances: Float[np.ndarray, "rollout agent"]) -> Actions:
        del worlds
        actions, _ = choose(jnp.zeros((*chances.shape, self._action_count)), jnp.asarray(chances))
        return np.asarray(actions)


class IdleTeam:
    """Nobody ever does anything."""

    def act(self, worlds: Worlds, chances: Float[np.ndarray, "rollout agent"]) -> Actions:
        del worlds
        return np.full(chances.shape, STAY)


class ScriptedTeam:
    """Everybody follows a script."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def act(self, worlds: Worlds, chances: Float[np.ndarray, "rollout agent"]) -> Actions:
        del chances
        return np.stack([self._script(state) for state in worlds.states()])


def reference_teams(task: Game) -> dict[str, Team]:
    """The references there are for a task, by the name their rows carry."""
    random: dict[str, Team] = {"random": RandomTeam(task.action_count)}
    if task.name not in SCRIPTS:  # of an own task nobody knows which action does nothing, if any
        return random
    return {**random, "noop": IdleTeam(), "scripted": ScriptedTeam(SCRIPTS[task.name])}


def reference_scores(
    task: Game, team_sizes: tuple[int, ...], rollouts: int, crew: Crew | None = None
) -> Iterator[tuple[str, int, Scores]]:
    """Each reference at each size, on the starts that policies meet: (name, team size, scores)."""
    begin = PortWorlds if crew is None else on_host(crew)
    for name, team in reference_teams(task).items():
        for size in team_sizes:
            narrow = task.with_slots(size)
            yield name, size, score_team(narrow, rollout_keys(size, rollouts), size, begin, team)
