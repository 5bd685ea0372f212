"""The parts of somebody's JAX task, one by one: what is wrong with each, by its name, in one sentence."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
from jax.errors import ConcretizationTypeError, TracerArrayConversionError, TracerIntegerConversionError
from jaxtyping import Array

from pc3d.experiment.action_space import ActionSpace
from pc3d.system.errors import Pc3dError, shortened
from pc3d.system.imports import OWN_ERRORS, described, place_of
from pc3d.tasks.described import ObservationPart
from pc3d.tasks.task import AnyTask, Outcome, Task, WorldState

BOUNDS = ("smallest_team", "largest_team")
LONGEST_EPISODE = 10**6
DECIDED_IN_PYTHON = (ConcretizationTypeError, TracerArrayConversionError, TracerIntegerConversionError)


class PartBroken(Exception):
    """A part of the task does what it must not; the message names it."""


@contextmanager
def calling(part: str) -> Iterator[None]:
    """Whatever a part of the task raises, while it is compiled, becomes one sentence."""
    try:
        yield
    except PartBroken:
        raise
    except Pc3dError as error:
        raise PartBroken(f"{part}: {error}") from error
    except DECIDED_IN_PYTHON as error:
        raise PartBroken(
            f"{part} asks an array for its value{place_of(error)}, which nobody knows while it is compiled: "
            "let jnp.where or jax.lax.cond decide instead of a Python if or while"
        ) from error
    except OWN_ERRORS as error:
        raise PartBroken(f"{part} raised {described(error)}") from error


def wrong_bounds(task: type[AnyTask]) -> list[str]:
    """Bounds of team sizes that are none, because of which the task cannot be made."""
    bounds = {name: getattr(task, name) for name in BOUNDS if hasattr(task, name)}
    wrong = {name: size for name, size in bounds.items() if not isinstance(size, int | property)}
    return [_must_be(name, "a whole number", size) for name, size in wrong.items()]


def wrong_settings(task: AnyTask) -> list[str]:
    """What a task says of itself and is of no use."""
    return list(_wrong_settings(task))


def _wrong_settings(task: AnyTask) -> Iterator[str]:
    own_space = type(task).action_space is not Task.action_space
    needless = "action_names" if own_space else "action_space"  # one of them is made of the other
    for name, (holds, wanted) in SETTINGS.items():
        if name == needless:
            continue
        try:
            with calling(name):
                said = getattr(task, name)
        except PartBroken as error:
            yield str(error)
            continue
        if not holds(said):
            yield _must_be(name, wanted, said)


def _must_be(name: str, wanted: str, said: object) -> str:
    return f"{name} must be {wanted}, not {shortened(repr(said))}"


def _all_are(kind: type) -> Callable[[Any], bool]:
    return lambda said: isinstance(said, tuple) and all(isinstance(one, kind) for one in said)


def _is_length(said: object) -> bool:
    return type(said) is int and 1 <= said <= LONGEST_EPISODE


SETTINGS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "horizon": (_is_length, f"a whole number from 1 to {LONGEST_EPISODE:,}"),
    "return_definition": (lambda said: isinstance(said, str) and said != "", "a sentence"),
    "measure_names": (_all_are(str), "a tuple of names, an empty one if nothing is measured"),
    "observation_layout": (_all_are(ObservationPart), "a tuple of ObservationPart"),
    "action_names": (lambda said: said != () and _all_are(str)(said), "a tuple of names"),
    "action_space": (lambda said: isinstance(said, ActionSpace), "a Choice or a Box (docs/actions.md)"),
}


def start_of(state: Any) -> WorldState:
    """What `reset` returned."""
    if not isinstance(state, WorldState):
        raise PartBroken(f"reset must return a state, which is a WorldState, not {_kind(state)}")
    return state


def step_of(answer: Any, before: WorldState) -> tuple[WorldState, Outcome]:
    """What `step` returned: a state like the one before, and what the step brought."""
    if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], Outcome)):
        given = f"({', '.join(map(_kind, answer))})" if isinstance(answer, tuple) else _kind(answer)
        raise PartBroken(f"step must return the next state and an Outcome, not {given}")
    state, outcome = answer
    _refuse_unlike(before, state)
    if not isinstance(outcome.measures, dict):
        raise PartBroken(f"measures of the Outcome of step must be a table, not {_kind(outcome.measures)}")
    reward = array_of("reward of the Outcome of step", outcome.reward)
    measures = {
        name: array_of(f"the measure {name} of the Outcome of step", value)
        for name, value in outcome.measures.items()
    }
    ends = [_end(name, getattr(outcome, name)) for name in ("terminated", "truncated")]
    return state, Outcome(reward, ends[0], ends[1], measures)


def _end(name: str, given: Any) -> Array:
    flag = array_of(f"{name} of the Outcome of step", given)
    if flag.shape or flag.dtype != bool:
        raise PartBroken(
            f"{name} of the Outcome of step must be one truth value for the team, not {_kind(flag)}"
        )
    return flag


def array_of(what: str, given: Any) -> Array:
    """Numbers, or a sentence."""
    if given is not None:
        try:
            return jnp.asarray(given)
        except (TypeError, ValueError):
            pass
    raise PartBroken(f"{what} must be an array of numbers, not {_kind(given)}")


def _refuse_unlike(before: WorldState, after: Any) -> None:
    """The next step takes what this one returned, so it must be of the same kind."""
    parts: list[Any] = [jax.tree.structure(state) for state in (before, after)]
    if parts[0] != parts[1]:
        others = " with others" if type(after) is type(before) else ""
        raise PartBroken(
            f"step must return {_kind(before)} with the same parts as reset does, not {_kind(after)}{others}"
        )
    with calling("the state that step returned"):
        old, new = jax.eval_shape(lambda: (before, after))
    for (path, one), other in zip(jax.tree.leaves_with_path(old), jax.tree.leaves(new), strict=True):
        # A number of no certain kind, such as a 0 of Python's, takes the kind of what follows it.
        if one.shape != other.shape or (one.dtype != other.dtype and not one.weak_type):
            raise PartBroken(
                f"the state's {jax.tree_util.keystr(path, simple=True)} must stay what it was before step, "
                f"{_kind(one)}, and became {_kind(other)}"
            )


def _kind(given: Any) -> str:
    """What something is, in a few words."""
    if hasattr(given, "shape") and hasattr(given, "dtype"):
        return f"{given.dtype} of shape {tuple(given.shape)}"
    return f"a {type(given).__name__}"
