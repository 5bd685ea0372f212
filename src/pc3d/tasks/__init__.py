"""The games, by name. A new task is one file and one line here, or an import path on the command line."""

from dataclasses import replace

from pc3d.errors import BadInput, unknown_name
from pc3d.settings import Experiment
from pc3d.tasks.described import DescribedTask
from pc3d.tasks.foraging import Foraging
from pc3d.tasks.spread import Spread
from pc3d.tasks.task import AnyTask, Game, Task
from pc3d.tasks.warehouse import Warehouse

TASKS: dict[str, type[AnyTask]] = {"spread": Spread, "lbf": Foraging, "rware": Warehouse}


def task_class(name: str) -> type[AnyTask]:
    """The task of that name, or a sentence that names the ones there are."""
    if name not in TASKS:
        raise unknown_name("task", name, TASKS)
    return TASKS[name]


def make_task(experiment: Experiment) -> AnyTask:
    """The world of an experiment, as wide as its largest admitted team."""
    task = task_class(experiment.task)(experiment.rosters.largest)
    return replace(task, collisions=experiment.collisions) if isinstance(task, Spread) else task


def make_game(experiment: Experiment) -> Game:
    """What is known of an experiment's task. No file makes us import code: a description has to do."""
    if experiment.world is not None and experiment.task not in TASKS:
        return DescribedTask(experiment.rosters.largest, experiment.task, experiment.world)
    return make_task(experiment)


def playable(game: Game) -> AnyTask:
    """The game as a task with rules; a sentence if it is only described."""
    if isinstance(game, Task):
        return game
    raise BadInput(
        f"this policy was made for {game.name}, and no file may make pc3d run that code: "
        f"if you trust it, name it again with --task {game.name}"
    )
