"""Rows of entities: every one in sight once, itself first, under a number that is its own in any world."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.system.errors import BadInput
from pc3d.tasks.entity_rows import central_rows, seen_rows, unpacked
from pc3d.tasks.foraging.world import Foraging
from pc3d.tasks.spread.world import Spread
from pc3d.tasks.warehouse.world import Warehouse
from tests.seams.probe_task.world import NamedProbe
from tests.tasks.test_entities import CASES, PLAIN, looked_at


@pytest.mark.parametrize("task", CASES, ids=lambda task: f"{task.name} {task.cast.seen}")
def test_everything_in_sight_has_one_row_and_the_agent_itself_the_first(task):
    _, present, view, seen = looked_at(task)
    features = seen.shape[-1]
    made = jax.vmap(lambda each: seen_rows(each, task.most_visible))(view)
    assert made.shape[-1] == task.shown_by_entity().observation_width
    rows = unpacked(made, features)
    visible = np.asarray(jax.vmap(lambda each: each.visible)(view))
    for world, agent in np.argwhere(present):
        entities = np.flatnonzero(visible[world, agent])
        numbers = np.asarray(rows.numbers[world, agent])
        assert numbers[0] == agent + 1
        there = numbers[numbers != 0]
        which = np.where(there > 0, there - 1, task.slots - 1 - there)
        assert sorted(which) == entities.tolist()
        np.testing.assert_array_equal(
            np.asarray(rows.features[world, agent])[numbers != 0], seen[world, agent, which]
        )
    assert not np.any(np.asarray(made)[~present])


@pytest.mark.parametrize("task", PLAIN, ids=lambda task: task.name)
def test_a_wider_world_changes_no_row(task):
    key = jax.random.key(3)
    narrow, wide = (task.with_slots(slots).shown_by_entity() for slots in (3, 6))
    states = [each.reset(key, 3) for each in (narrow, wide)]
    one, other = (each.shown(state) for each, state in zip((narrow, wide), states, strict=True))
    np.testing.assert_allclose(one, other[:3], atol=1e-6)
    rows = [each.whole(state) for each, state in zip((narrow, wide), states, strict=True)]
    assert rows[0].shape == rows[1].shape
    features = len(task.entities(states[1]).names)
    one, other = (np.asarray(part).reshape(-1, features + 1) for part in rows)
    there = [part[part[:, -1] != 0] for part in (one, other)]
    np.testing.assert_allclose(*there, atol=1e-6)


def test_requested_shelves_have_the_numbers_under_which_robots_see_them():
    task = Warehouse(4)
    state = task.reset(jax.random.key(0), 4)
    view = task.entities(state)
    rows = unpacked(central_rows(view, view.central.there.size), len(view.names))
    shelves = np.asarray(rows.numbers[4:8])
    assert (shelves < 0).all()
    np.testing.assert_array_equal(rows.features[4:8], np.asarray(view.features)[task.slots - 1 - shelves])
    assert sorted(-shelves) == sorted(np.asarray(state.requests).tolist())


@pytest.mark.parametrize("task", [Foraging(5), Warehouse(5)], ids=lambda task: task.name)
def test_rows_of_whole_numbers_fit_into_bytes(task):
    task = task.shown_by_entity()
    state = task.reset(jax.random.key(1), 5)
    for made in (task.shown(state), task.whole(state)):
        np.testing.assert_array_equal(np.asarray(made), np.asarray(made).astype(np.int8))


def test_a_task_without_entities_is_refused_in_a_sentence():
    with pytest.raises(BadInput, match="does not show entities one by one"):
        NamedProbe(2).shown_by_entity()
    assert Spread(3).shown(Spread(3).reset(jax.random.key(0), 3)).shape == (3, 16)


def test_whoever_left_sees_nothing_and_is_seen_by_nobody():
    task = Spread(3).shown_by_entity()
    state = task.reset(jax.random.key(0), 3)
    left = replace(state, there=jnp.array([True, False, True]))
    assert not np.any(task.shown(left)[1])
    assert 2 not in np.asarray(unpacked(task.shown(left), 6).numbers)
    assert 2 not in np.asarray(unpacked(task.whole(left), 6).numbers)
