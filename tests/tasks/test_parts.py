"""What is wrong with a part of somebody's JAX task is one sentence that names the part."""

import re
from dataclasses import dataclass

import jax.numpy as jnp
import pytest

from pc3d.experiment.action_space import Box
from pc3d.tasks.contract import broken_promises
from pc3d.tasks.parts import wrong_bounds, wrong_settings
from pc3d.tasks.task import Outcome
from tests.play.hosted.jax_task import Good
from tests.probes import ProbeState

HERE = r"\(test_parts.py, line \d+\)"


def changed(**parts):
    """The probe with other parts."""
    return dataclass(frozen=True)(type("Changed", (Good,), parts))


def bringing(**parts):
    """A step whose outcome has other parts."""

    def step(self, key, state, actions):
        state, outcome = Good.step(self, key, state, actions)
        other = object.__new__(Outcome)  # as outside of tests, where nobody looks at its types
        for name, value in {**vars(outcome), **parts}.items():
            object.__setattr__(other, name, value)
        return state, other

    return step


def remembering(make):
    """A step with another state."""
    return lambda *given: (make(Good.step(*given)[0]), Good.step(*given)[1])


def stay_early(old):
    return ProbeState(old.team_size, old.time, old.cues, there=old.cues > 0)


def halved(old):
    return ProbeState(old.team_size, old.time, old.cues * 0.5)


def lucky(_, *moment):
    return moment[1].luck


def no_bounds(_):
    return Box(("aim",), (0.0,), (float("inf"),))


def decide(_, state):
    return jnp.zeros((3, 6)) if state.time > 2 else jnp.ones((3, 6))


@pytest.mark.parametrize(
    ("name", "said", "sentence"),
    [
        ("horizon", -5, "a whole number from 1 to 1,000,000, not -5"),
        ("horizon", 2.5, "a whole number from 1 to 1,000,000, not 2.5"),
        ("return_definition", None, "a sentence, not None"),
        ("action_space", None, "a Choice or a Box (docs/actions.md), not None"),
        ("action_names", "left", "a tuple of names, not 'left'"),
        ("action_names", (), "a tuple of names, not ()"),
        ("measure_names", (1,), "a tuple of names, an empty one if nothing is measured, not (1,)"),
        ("observation_layout", None, "a tuple of ObservationPart, not None"),
    ],
)
def test_settings_of_no_use_are_named(name, said, sentence):
    assert wrong_settings(changed(**{name: said})(3)) == [f"{name} must be {sentence}"]


def test_settings_that_are_code_are_named_with_what_they_raise():
    assert wrong_settings(Good(3)) == []
    (told,) = wrong_settings(changed(action_space=property(no_bounds))(3))
    assert told.startswith("action_space: the action's aim needs two finite bounds")
    assert wrong_bounds(changed(largest_team=None)) == ["largest_team must be a whole number, not None"]


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"reset": lambda *_: None}, "reset must return a state, which is a WorldState, not a NoneType"),
        ({"step": lambda *_: None}, "step must return the next state and an Outcome, not a NoneType"),
        ({"step": lambda *_: (None, 1)}, r"and an Outcome, not \(a NoneType, a int\)"),
        ({"step": lucky}, f"step raised AttributeError: .*luck.* {HERE}"),
        ({"observe": lambda *_: None}, "what observe returns must be an array of numbers, not a NoneType"),
        ({"observe": decide}, f"observe asks an array for its value {HERE}, which .* let jnp.where or"),
        ({"step": bringing(reward=None)}, "reward of the Outcome of step must be an array of numbers"),
        ({"step": bringing(measures=None)}, "measures of the Outcome of step must be a table, not a None"),
        (
            {"step": bringing(measures={"a": None})},
            "the measure a of the Outcome of step must be an array of",
        ),
        ({"step": bringing(truncated=0.0)}, "truncated of .* one truth value for the team, not float32 of"),
        ({"step": remembering(lambda _: None)}, "step must return a ProbeState with .*, not a NoneType"),
        (
            {"step": remembering(stay_early)},
            "step must return a ProbeState with the same parts as reset does, not a ProbeState with others",
        ),
        (
            {"step": remembering(halved)},
            r"the state's cues must stay .*, int32 of shape \(3,\), and became float32 of shape \(3,\)",
        ),
        (
            {"masks_actions": True, "available_actions": lambda _, state: state.cues > 0},
            r"available_actions gives shape \(3,\) with 3 slots, not \(3, 2\)",
        ),
    ],
)
def test_parts_that_do_what_they_must_not_are_named(parts, sentence):
    (told,) = broken_promises(changed(**parts)(3), 2)
    assert re.search(sentence, told), told


def test_python_numbers_are_as_good_as_arrays():
    assert broken_promises(changed(step=bringing(reward=0.0, terminated=False, truncated=False))(3), 2) == []
