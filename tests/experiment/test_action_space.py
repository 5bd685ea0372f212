"""The two kinds of action spaces say what they are, and what is wrong with them."""

from dataclasses import replace

import pytest

from pc3d.experiment.action_space import Box, Choice
from pc3d.experiment.world import OwnWorld, Rules
from pc3d.presets.experiment_file import read_experiment, to_plain
from pc3d.presets.paper import paper
from pc3d.system.errors import BadInput

SPACES = [Choice(("a", "b")), Choice(("a", "b"), masked=True), Box(("x", "y"), (-1.0, 0.0), (1.0, 0.5))]


@pytest.mark.parametrize(
    ("low", "high", "sentence"),
    [
        ((0.0,), (float("inf"),), "the action's x needs two finite bounds, the lower one first, not 0 and"),
        ((float("nan"),), (1.0,), "two finite bounds"),
        ((1.0,), (1.0,), "not 1 and 1"),
        ((0.0, 0.0), (1.0,), "a name, a low bound and a high bound for each number"),
        ((0.0,), (), "a name, a low bound and a high bound for each number"),
    ],
)
def test_a_box_without_proper_bounds_is_refused(low, high, sentence):
    with pytest.raises(BadInput, match=sentence):
        Box(("x",), low, high)


@pytest.mark.parametrize("space", [Choice, lambda names: Box(names, (), ())])
def test_somebody_who_can_do_nothing_is_refused(space):
    with pytest.raises(BadInput, match="must be from 1 to 4,096"):
        space(())


def test_a_space_is_explained():
    assert [space.words for space in SPACES] == [
        "one of 2: a, b",
        "one of 2: a, b; masks say which are allowed",
        "2 real numbers: x from -1 to 1, y from 0 to 0.5",
    ]
    assert Choice(tuple("abcdefghij")).words == "one of 10: a, b, c, d, e, f, g, … j"


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.words)
def test_an_experiments_file_tells_the_action_space(space):
    world = OwnWorld.acting(
        space, stepped_by="host", horizon=5, observation_shape=(3,), return_definition="its own"
    )
    experiment = replace(paper("spread", "pc3d"), task="somewhere:make", rules=Rules(), world=world)
    again = read_experiment(to_plain(experiment), "here")
    assert again.world is not None
    assert again.world.action_space == space


def test_a_file_from_before_there_were_others_tells_of_a_choice_and_is_written_as_it_was():
    old = {"stepped_by": "host", "horizon": 5, "observation_shape": [3], "action_names": ["a", "b"]}
    plain = {**to_plain(paper("spread", "pc3d")), "world": {**old, "return_definition": "its own"}}
    plain["task"], plain["rules"] = "somewhere:make", {}
    world = read_experiment(plain, "here").world
    assert world is not None
    assert world.action_space == Choice(("a", "b"))
    assert to_plain(read_experiment(plain, "here"))["world"].keys() == {*old, "return_definition"}


def test_numbers_with_masks_are_refused():
    with pytest.raises(BadInput, match="only a choice of actions can have masks"):
        OwnWorld("host", 5, (3,), ("x",), "its own", (0.0,), (1.0,), masks_actions=True)
