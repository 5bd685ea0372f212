"""What the commands have in common about own tasks: their team sizes, their code, and who steps them."""

import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pc3d.cli.display import Terminal
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.world import LONGEST_ABOUT, OwnWorld, Rules
from pc3d.play.hosted.contract import Examination, examine, told_once
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
from pc3d.tasks.parts import wrong_bounds, wrong_settings
from pc3d.tasks.registry import TASKS
from pc3d.tasks.task import AnyTask, Task

USUAL_SIZES = tuple(range(1, 9))  # that a task is tried with


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
        found = _look_at_jax_task(thing, team_sizes)
    else:
        looking, timeout = f"looking at {path}", hosting.env_timeout
        with current_folder_importable(), Terminal(stderr=True).status(looking) as status:
            found = examine(
                thing, team_sizes, horizon, timeout, lambda now: status.update(f"{looking}: {now}")
            )
    if found.world is not None:
        found.world = replace(found.world, about=_own_words(thing))
    return found


def _own_words(thing: Any) -> str:
    """What the game is: the first paragraph of its docstring; other objects have that of their kind."""
    written = thing.__doc__ if inspect.isclass(thing) or inspect.isroutine(thing) else None
    if not written or written.startswith(f"{thing.__name__}("):  # a dataclass without one has its signature
        return ""
    paragraph = inspect.cleandoc(written).split("\n\n")[0]
    return textwrap.shorten(paragraph, LONGEST_ABOUT, placeholder=" …").removesuffix(".") + "."


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


def sizes_to_try(path: str) -> tuple[int, ...]:
    """What a task is looked at with if nobody says: as many of the usual team sizes as it admits."""
    thing = admit_named(path)
    if not _is_jax_task(thing):  # only playing tells which sizes an environment has
        return USUAL_SIZES
    return tuple(size for size in USUAL_SIZES if _admits(thing, size)) or USUAL_SIZES


def _admits(task: type[AnyTask], size: int) -> bool:
    try:
        task(slots=size)
    except Pc3dError:
        return False
    except OWN_ERRORS:  # to be told when the task is looked at
        return True
    return True


def _look_at_jax_task(task: type[AnyTask], team_sizes: tuple[int, ...]) -> Examination:
    try:
        wide = [task(slots=size) for size in sorted(team_sizes)][-1]
    except Pc3dError:  # says what is wrong with the size
        raise
    except OWN_ERRORS as error:
        return Examination(problems=[*wrong_bounds(task)] or [f"it cannot be made: {described(error)}"])
    found = Examination(problems=wrong_settings(wide))
    if not found.problems:
        found.problems += told_once(_broken_by_size(wide, (min(team_sizes), max(team_sizes))))
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


def _broken_by_size(task: AnyTask, sizes: tuple[int, ...]) -> Iterator[tuple[int, str]]:
    for size in dict.fromkeys(sizes):
        try:
            yield from ((size, problem) for problem in broken_promises(task, size))
        except OWN_ERRORS as error:  # of a part that is not looked at by itself
            yield size, described(error)
