"""A task's split of its views: the numbers that tell of teammates, and no others."""

from dataclasses import replace
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.tasks.split import Split
from pc3d.tasks.warehouse.floor import NOTHING
from tests.tasks.test_entities import CASES, PLAIN, STEPS, WORLDS, crowded

TEAM = 5


@lru_cache
def seen_by_first(task):
    """What the first agent sees with its whole team there, with some of it, and alone."""

    def one(number):
        key = jax.random.key(number)
        actions = jax.random.randint(key, (STEPS, task.slots), 0, task.action_count)
        start = crowded(task, key, task.reset(key, TEAM))
        state, _ = jax.lax.scan(lambda state, acts: (task.step(key, state, acts)[0], None), start, actions)
        if task.name == "rware":  # a shelf that a teammate carries is a thing of the task, and seen as such
            state = replace(state, carried=state.carried.at[1:].set(NOTHING))
        if task.name == "lbf":
            cells = jax.random.permutation(key, jnp.arange(16))[: task.slots]  # no two in one
            state = replace(state, positions=3 + jnp.stack([cells // 4, cells % 4], axis=-1))
        everybody = jnp.arange(task.slots) < TEAM
        some = (everybody & jax.random.bernoulli(key, 0.5, (task.slots,))).at[0].set(True)
        rosters = (everybody, some, jnp.arange(task.slots) == 0)
        return [task.observe(replace(state, there=there))[0] for there in rosters]

    return [np.asarray(views) for views in jax.jit(jax.vmap(one))(jnp.arange(WORLDS))]


@pytest.mark.parametrize("task", CASES, ids=str)
def test_what_is_left_of_a_view_does_not_depend_on_who_is_there(task):
    split, (crowd, some, alone) = task.split, seen_by_first(task)
    assert split.width == task.observation_width
    np.testing.assert_array_equal(split.own(crowd), split.own(alone))
    np.testing.assert_array_equal(split.own(some), split.own(alone))


@pytest.mark.parametrize("task", CASES, ids=str)
def test_every_number_of_a_teammate_depends_on_who_is_there(task):
    crowd, _, alone = seen_by_first(task)
    changes = np.any(crowd != alone, axis=0)
    # Of a robot, its directions need not all occur in each cell, nor does anybody stand in all cells further.
    places = task.split.places[:8]
    assert all(changes[list(numbers)].mean() >= 0.3 for numbers in places)
    if task in PLAIN[:2]:
        assert all(changes[list(numbers)].all() for numbers in places)


@pytest.mark.parametrize("task", CASES, ids=str)
def test_a_view_without_its_teammates_is_that_of_an_agent_alone(task):
    crowd, _, alone = seen_by_first(task)
    nobody = np.zeros((WORLDS, len(task.split.places)), bool)
    np.testing.assert_array_equal(task.split.with_only(crowd, nobody), alone)
    np.testing.assert_array_equal(task.split.with_only(crowd, ~nobody), crowd)


@pytest.mark.parametrize("task", CASES, ids=str)
def test_a_view_with_some_of_its_teammates_is_that_of_the_smaller_team(task):
    """Where all teammates had a place; or a fourth one moves up, of whom the view did not tell."""
    split, (crowd, some, alone) = task.split, seen_by_first(task)
    compared = 0
    for whole, part, nobody in zip(crowd, some, alone, strict=True):
        told, left = ([tuple(view[list(numbers)]) for numbers in split.places] for view in (whole, part))
        empty = [tuple(nobody[list(numbers)]) for numbers in split.places]
        if split.nearest_first:
            kept, known = [each in left for each in told], set(left) <= {*told, *empty}
        else:
            kept, known = [each == other for each, other in zip(told, left, strict=True)], True
        if not known:
            continue
        np.testing.assert_array_equal(split.with_only(whole, np.array(kept)), part)
        compared += not np.array_equal(whole, part)
    assert compared > 4


def test_the_numbers_are_those_of_the_layout():
    """Counted from 0, as the pages say."""
    spread, foraging, warehouse = PLAIN
    assert np.flatnonzero(spread.split.of_teammates).tolist() == [*range(10, 16)]
    assert np.flatnonzero(foraging.split.of_teammates).tolist() == [*range(15, 27)]
    cells = [cell for cell in range(9) if cell != 4]
    assert np.flatnonzero(warehouse.split.of_teammates).tolist() == [
        8 + 7 * cell + bit for cell in cells for bit in range(5)
    ]


def test_places_that_close_up_and_places_that_stay():
    views = np.array([9.0, 1.0, 2.0, 3.0])
    kept = np.array([False, True, True])
    closes = Split.at_end(1, 3, 1, nearest_first=True)
    np.testing.assert_array_equal(closes.with_only(views, kept), [9, 2, 3, 0])
    stays = replace(closes, nearest_first=False, nobody=((1, 5.0),))
    np.testing.assert_array_equal(stays.with_only(views, kept), [9, 5, 2, 3])
    np.testing.assert_array_equal(stays.with_only(views * 0, kept), views * 0)
