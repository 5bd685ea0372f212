"""What the commands have in common about own tasks: their team sizes, their code, and who steps them."""

from dataclasses import replace
from typing import Any

from pc3d.cli.display import Terminal
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.world import OwnWorld, Rules
from pc3d.play.hosted.contract import Examination, examine
from pc3d.play.hosted.crew import DEFAULT_HOSTING, Hosting
from pc3d.system.bounds import within
from pc3d.system.errors import BadInput, Pc3dError
from pc3d.system.imports import (
    OWN_ERRORS,
    current_folder_importable,
    described,
    is_import_path,
    load_object,
)
from pc3d.tasks.contract import broken_promises
from pc3d.tasks.entry import TaskEntry
from pc3d.tasks.registry import TASKS
from pc3d.tasks.task import AnyTask, Task


def with_world(experiment: Experiment, horizon: int | None, hosting: Hosting = DEFAULT_HOSTING) -> Experiment:
    """The experiment with its own task, if it has one, loaded and looked at: a user named it."""
    task = experiment.task
    if not is_import_path(task):
        return experiment if horizon is None else replace(experiment, rules=with_horizon(experiment, horizon))
    found = look_at(task, experiment.rosters.all, horizon, hosting)
    if found.world is None:
        more = f" (and {len(found.problems) - 1} more)" if len(found.problems) > 1 else ""
        raise BadInput(f"{task} cannot be trained on{more}: {found.problems[0]}; see pc3d check {task}")
    return replace(experiment, world=found.world)


def with_horizon(experiment: Experiment, horizon: int) -> Rules:
    """The rules of a task that comes with pc3d, with another time limit."""
    if not hasattr(experiment.rules, "horizon"):
        raise BadInput(f"episodes of {experiment.task} have always the same length: leave --horizon away")
    return replace(experiment.rules, horizon=horizon)  # type: ignore[call-arg]


def look_at(path: str, team_sizes: tuple[int, ...], horizon: int | None, hosting: Hosting) -> Examination:
    """Load a task and hold it to the contract. A JAX task is known by this name from then on."""
    if horizon is not None:
        within("horizon", horizon, 1, 10**6)
    thing = admit_named(path)
    if _is_jax_task(thing):
        return _look_at_jax_task(thing, team_sizes)
    looking, timeout = f"looking at {path}", hosting.env_timeout
    with current_folder_importable(), Terminal(stderr=True).status(looking) as status:
        return examine(thing, team_sizes, horizon, timeout, lambda now: status.update(f"{looking}: {now}"))


def admit_named(path: str | None) -> Any:
    """What the path names, if there is one; if that is a JAX task, it comes into the table of tasks."""
    if path is None:
        return None
    thing = load_object(path)
    if _is_jax_task(thing):
        thing.name = path  # runs and files know it by nothing else, so sentences should not, either
        TASKS[path] = TaskEntry(path, thing)
    return thing


def _is_jax_task(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, Task)


def _look_at_jax_task(task: type[AnyTask], team_sizes: tuple[int, ...]) -> Examination:
    found = Examination()
    try:
        wide = [task(slots=size) for size in sorted(team_sizes)][-1]
    except Pc3dError:  # says what is wrong with the size
        raise
    except OWN_ERRORS as error:
        found.problems.append(f"it cannot be made: {described(error)}")
        return found
    for size in (min(team_sizes), max(team_sizes)):
        try:
            found.problems += [f"with {size} agents: {problem}" for problem in broken_promises(wide, size)]
        except OWN_ERRORS as error:  # while it is compiled
            found.problems.append(f"with {size} agents: {described(error)}")
    if not found.problems:
        found.world = OwnWorld.acting(
            wide.action_space,
            stepped_by="jax",
            horizon=wide.horizon,
            observation_shape=(wide.observation_width,),
            return_definition=wide.return_definition,
            observation_parts=wide.layout,
        )
    return found
