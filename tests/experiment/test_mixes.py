"""Kinds and mixes in whole numbers: who is in a team of any size, and what cannot be."""

import json

import pytest

from pc3d.experiment.kinds import USUAL, Capability, Kind
from pc3d.experiment.mixes import NO_MIXES, Mix, Mixes
from pc3d.experiment.mixes_file import mixes_from_plain, mixes_to_plain, read_mixes
from pc3d.system.errors import BadInput
from pc3d.tasks.registry import TASKS

TALL, SMALL = Kind("tall", (("size", 0.2),)), Kind("small", (("size", 0.1),))
CAPABILITIES = (Capability("size", 0.05, 0.3, usual=0.15), Capability("level", 1, 10, usual=None, whole=True))


def mix(name="both", **amounts):
    kinds = {"tall": TALL, "small": SMALL, "usual": USUAL}
    return Mix(name, tuple(kinds[kind] for kind in amounts), tuple(map(float, amounts.values())))


def test_counts_are_kept_in_a_team_of_their_size_and_are_proportions_in_others():
    one = mix(tall=2, small=4)
    assert [kind.name for kind in one.kinds] == ["small", "tall"]
    assert one.counts(6) == (4, 2)
    assert one.counts(3) == (2, 1)
    assert one.counts(1) == (1, 0)  # whoever is cut off most comes first
    assert mix(tall=1, small=1).counts(3) == (2, 1)  # and of two that are alike, the first one
    assert all(sum(one.counts(size)) == size for size in range(30))


def test_fractions_are_chances_that_sum_to_one():
    assert not mix(tall=0.25, small=0.75).counted
    assert mix(tall=0.25, small=0.75).shares == (0.75, 0.25)
    with pytest.raises(BadInput, match="chances that sum to 1"):
        mix(tall=0.5, small=0.6)


def test_a_kind_says_only_what_is_unusual():
    size, level = CAPABILITIES
    assert (TALL.value(size), USUAL.value(size), USUAL.value(level)) == (0.2, 0.15, None)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Kind("tall", (("size", 0.4),)), "size of the kind tall must be from 0.05 to 0.3, not 0.4"),
        (Kind("tall", (("level", 1.5),)), "level of the kind tall must be a whole number, not 1.5"),
        (Kind("tall", (("sise", 0.1),)), "perhaps you meant size"),
        (Kind("Tall ones"), "small letters"),
    ],
)
def test_a_kind_that_cannot_be_is_refused(kind, sentence):
    with pytest.raises(BadInput, match=sentence):
        kind.check("spread", CAPABILITIES)


def test_a_task_without_capabilities_has_no_kinds():
    with pytest.raises(BadInput, match="all alike"):
        USUAL.check("own:task", ())


def test_a_mix_belongs_to_one_split_only_whatever_it_is_called():
    with pytest.raises(BadInput, match="both and same are the same"):
        Mixes(train=(mix(tall=1, small=2),), test=(mix("same", small=4, tall=2),))
    assert Mixes(train=(mix(tall=1, small=1),), test=(mix("drawn", tall=0.5, small=0.5),)).test
    with pytest.raises(BadInput, match="two mixes are called both"):
        Mixes(train=(mix(tall=1),), test=(mix(small=1),))
    with pytest.raises(BadInput, match="at least one to train with"):
        Mixes(test=(mix(tall=1),))


def test_sealed_mixes_have_no_test_mixes():
    mixes = Mixes(train=(mix(tall=1),), validation=(mix("b", small=1),), test=(mix("c", usual=1),))
    assert [one.name for one in mixes.sealed().all] == ["both", "b"]
    assert mixes.sealed().split_of(mixes.test[0]) == "other"
    assert mixes.split_of(mix("another-name", usual=3)) == "test"
    assert not NO_MIXES.sealed()


def test_the_usual_agents_have_nothing_to_be_seen():
    with pytest.raises(BadInput, match="--capabilities needs a --mix"):
        Mixes(seen="own")


@pytest.mark.parametrize("task", sorted(TASKS))
def test_the_mixes_of_every_task_can_be_written_and_read_again(task):
    mixes = read_mixes(TASKS[task].mixes)
    mixes.check(task, TASKS[task].capabilities)
    assert min(map(len, (mixes.train, mixes.validation, mixes.test))) >= 2
    # As files are written: with names in the order of letters.
    written = json.dumps(mixes_to_plain(mixes), sort_keys=True)
    assert mixes_from_plain(json.loads(written), "a file") == mixes


@pytest.mark.parametrize(
    ("plain", "sentence"),
    [
        ({"train": {"a": {"tal": 1}}, "kinds": {"tall": {}}}, "perhaps you meant tall"),
        ({"train": {"a": {"usual": "many"}}}, "must be a number"),
        ({"train": [1]}, "must be a table"),
        ({"trains": {}}, "perhaps you meant train"),
        ({}, "at least one mix"),
        ({"train": {"a": {"usual": 1}}, "seen": "all"}, "choice for"),
    ],
)
def test_a_file_of_mixes_is_read_strictly(plain, sentence):
    with pytest.raises(BadInput, match=sentence):
        mixes_from_plain(plain, "mixes.toml")
