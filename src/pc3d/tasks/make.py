"""From an experiment to its world, or to all that is known of it."""

from dataclasses import replace
from typing import Any

from pc3d.experiment.experiment import Experiment
from pc3d.system.errors import BadInput, unknown_name
from pc3d.tasks.described import DescribedTask
from pc3d.tasks.original_world import OriginalWorld
from pc3d.tasks.registry import TASKS, entry_of
from pc3d.tasks.task import AnyTask, Game, Task, World


def make_task(experiment: Experiment) -> AnyTask:
    """The world of an experiment, as wide as its largest admitted team."""
    task = entry_of(experiment.task).make(experiment.rosters.largest, experiment.rules)
    task = task.with_cast(experiment.mixes.cast) if experiment.mixes else task
    return task.shown_by_entity() if experiment.algorithm.entities else task


def make_game(experiment: Experiment) -> Game:
    """What is known of an experiment's task. No file makes us import code: a description has to do."""
    if experiment.world is not None and experiment.task not in TASKS:
        return DescribedTask(**vars(experiment.world), slots=experiment.most_agents, name=experiment.task)
    return make_task(experiment)


def playable(game: Game) -> AnyTask:
    """The game as a task with rules; a sentence if it is only described."""
    if isinstance(game, Task):
        return game
    raise BadInput(
        f"this policy was made for {game.name}, and no file may make pc3d run that code: "
        f"if you trust it, name it again with --task {game.name}"
    )


def in_world(game: Game, world: World) -> AnyTask:
    """The game in the task's own world, or in one that grows with the team."""
    if not isinstance(game, Task):
        raise BadInput(
            f"{game.name} has no {world} world: only tasks that are compiled with pc3d may have one"
        )
    return replace(game, world=world)


def original_world(task: AnyTask) -> OriginalWorld[Any]:
    """The original game for a team that fills all of the task's slots; its package is imported only now."""
    adapters = {name: entry.original for name, entry in TASKS.items() if entry.original is not None}
    if task.name not in adapters:
        raise unknown_name("original environment", task.name, adapters)
    return adapters[task.name].load()(task)
