"""Players to compare with that never learned: random, standing still, and one script per task."""

from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pc3d.experiment.action_space import ActionSpace, Box
from pc3d.experiment.execution import ALONE, Execution
from pc3d.play.choosing import choose
from pc3d.play.team import Decision, Team, View
from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.chance import by_chance
from pc3d.tasks.registry import TASKS
from pc3d.tasks.task import Game

# A script sees the task and the whole state of one episode, and acts for everybody who is there.
Script = Callable[[Game, Any], Int[np.ndarray, " agent"]]
STAY = 0  # in the three built-in tasks the first action does nothing


class _Forgetful:
    """Nobody remembers anything; each acts alone if nothing else is said."""

    execution: ClassVar[Execution] = ALONE

    def first(self, episodes: int, slots: int) -> None:
        del episodes, slots


class RandomTeam(_Forgetful):
    """All allowed actions equally likely, by the draws that a policy's actions would use."""

    def __init__(self, space: ActionSpace) -> None:
        self._space = space

    def step(
        self, memory: None, view: View, chances: Float[AnyArray, "episode agent *number"]
    ) -> tuple[None, Decision]:
        if isinstance(self._space, Box):
            return memory, Decision(by_chance(self._space, chances))
        # As a policy chooses that has no preferences: so the recorded scores were made.
        indifferent = jnp.zeros((*chances.shape, self._space.width))
        return memory, Decision(choose(indifferent, jnp.asarray(chances), view.allowed)[0])


class IdleTeam(_Forgetful):
    """Nobody ever does anything."""

    def step(self, memory: None, view: View, chances: Float[Array, "episode agent"]) -> tuple[None, Decision]:
        del view
        return memory, Decision(jnp.full(chances.shape, STAY))


class ScriptedTeam(_Forgetful):
    """Everybody follows a script that sees everything."""

    execution: ClassVar[Execution] = Execution(central_module=True, privileged=True)

    def __init__(self, script: Script, task: Game) -> None:
        self._script, self._task = script, task

    def step(self, memory: None, view: View, chances: Float[Array, "episode agent"]) -> tuple[None, Decision]:
        states, present = jax.device_get((view.states, view.present))
        actions = np.full(chances.shape, STAY)
        for episode, here in enumerate(present):
            state = jax.tree.map(lambda values, at=episode: values[at], states)
            actions[episode, here] = self._script(self._task, state)
        return memory, Decision(jnp.asarray(actions))


def reference_teams(task: Game) -> dict[str, Team]:
    """The references there are for a task, by the name their rows carry."""
    random: dict[str, Team] = {"random": RandomTeam(task.action_space)}
    script = TASKS[task.name].script if task.name in TASKS else None
    if script is None:  # of an own task nobody knows which action does nothing, if any
        return random
    return {**random, "noop": IdleTeam(), "scripted": ScriptedTeam(script.load(), task)}
