"""Entities and flat views tell the same: each can be made from the other, agent by agent."""

from dataclasses import dataclass, replace
from functools import lru_cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.mixes import Cast
from pc3d.experiment.mixes_file import read_mixes
from pc3d.system.errors import BadInput
from pc3d.tasks.contract import broken_promises
from pc3d.tasks.foraging.world import Foraging
from pc3d.tasks.registry import TASKS
from pc3d.tasks.spread.world import Spread
from pc3d.tasks.warehouse.world import Warehouse
from tests.seams.probe_task.world import NamedProbe

WORLDS, STEPS = 24, 6
PLAIN = [Spread(6), Foraging(6), Warehouse(6)]
CASES = [
    *PLAIN,
    *(
        task.with_cast(Cast(read_mixes(TASKS[task.name].mixes).all, seen))
        for task in PLAIN
        for seen in ("none", "own", "visible")
        if (task.name, seen) != ("rware", "own")  # nothing of its own there
    ),
]


def crowded(task, key, state):
    """Robots that start in one corner, so that they meet."""
    if task.name != "rware":
        return state
    corner = jnp.asarray([task.floor.cell_at(x, y) for x in range(4) for y in range(4)])
    return replace(state, cells=jax.random.permutation(key, corner)[: task.slots])


@lru_cache
def looked_at(task):
    """States in play, some of them with anybody missing: what is seen flat, and as entities."""

    def one(number):
        key = jax.random.key(number)
        actions = jax.random.randint(key, (STEPS, task.slots), 0, task.action_count)
        start = crowded(task, key, task.reset(key, 5))
        state, _ = jax.lax.scan(lambda state, acts: (task.step(key, state, acts)[0], None), start, actions)
        stay = jax.random.bernoulli(key, 0.6, (task.slots,)) | (number % 2 == 0)
        state = replace(state, there=task.present(state) & stay.at[0].set(True))
        view = task.entities(state)
        return task.observe(state), task.present(state), view, view.seen_by_each()

    found = jax.jit(jax.vmap(one))(jnp.arange(WORLDS))
    return jax.tree.map(np.asarray, found)


@dataclass
class Flat:
    """A flat view that is taken from the front, part by part."""

    numbers: np.ndarray

    def take(self, *shape):
        part, self.numbers = np.split(self.numbers, [int(np.prod(shape))])
        return part.reshape(shape)


def by_name(names, numbers):
    return dict(zip(names, numbers, strict=True))


def told(kind, places, **numbers):
    """What is known of one thing: its numbers by name, those that are zero left away."""
    named = {kind: 1.0, **by_name(("first", "second"), places), **numbers}
    return tuple(
        sorted((name, round(float(number), 4)) for name, number in named.items() if abs(number) > 5e-5)
    )


def spread_from_flat(task, view):
    view, able = Flat(view), [one.name for one in task.capabilities]
    speed, place = view.take(2), view.take(2)
    landmarks, mates = view.take(3, 2), view.take(3, 2)
    own = view.take(len(able)) if task.cast.seen != "none" else np.zeros(len(able))
    theirs = view.take(3, len(able)) if task.cast.seen == "visible" else np.zeros((3, len(able)))
    yield told("agent", place, **{"velocity x": speed[0], "velocity y": speed[1]}, **by_name(able, own))
    yield from (told("landmark", offset) for offset in landmarks if offset.any())
    for offset, skill in zip(mates, theirs, strict=True):
        if offset.any():
            yield told("agent", offset, **by_name(able, skill))


def foraging_from_flat(task, view):
    view, shown = Flat(view), task.cast.seen if task.unlike else "none"
    row, column, level = view.take(3)
    foods, mates = view.take(4, 3), view.take(4, 3)
    sight = view.take(1)[0] if shown != "none" else 0
    sights = view.take(4) if shown == "visible" else np.zeros(4)
    window = {"row in window": row, "column in window": column}
    yield told("agent", (0, 0), level=level, sight=sight, **window)
    yield from (told("food", offset, level=size) for *offset, size in foods if size)
    for (*offset, size), far in zip(mates, sights, strict=True):
        if size or any(offset):
            yield told("agent", offset, level=size, sight=far)


def warehouse_from_flat(task, view):
    view, shown = Flat(view), task.cast.seen if task.unlike else "none"
    able = [one.name for one in task.capabilities]
    place, carries, turned, highway = view.take(2), view.take(1)[0], view.take(4), view.take(1)[0]
    near = {(down, right): view.take(7) for down in (-1, 0, 1) for right in (-1, 0, 1)}
    far = {}
    if task.unlike:
        ring = [(down, right) for down in range(-2, 3) for right in range(-2, 3) if (down, right) not in near]
        far = {at: view.take(7) for at in ring}
    own = view.take(3) if shown != "none" else np.zeros(3)
    skills = {at: view.take(3) if shown == "visible" else np.zeros(3) for at in near if at != (0, 0)}
    directions = ("up", "down", "left", "right")
    mine = {"carries a shelf": carries, "on a highway": highway}
    yield told("robot", place, **mine, **by_name(directions, turned), **by_name(able, own))
    for (down, right), (robot, *turned, shelf, requested) in {**near, **far}.items():
        if robot and (down, right) != (0, 0):
            skill = by_name(able, skills.get((down, right), np.zeros(3)))
            yield told("robot", (right, down), **by_name(directions, turned), **skill)
        if shelf:
            yield told("shelf", (right, down), requested=requested)


FROM_FLAT = {"spread": spread_from_flat, "lbf": foraging_from_flat, "rware": warehouse_from_flat}


def from_entities(view, seen, visible):
    """The same of what one agent sees as entities."""
    for row in seen[visible]:
        named = by_name(view.names[view.places :], row[view.places :])
        kind = next(name for name in ("agent", "landmark", "food", "robot", "shelf") if named.get(name))
        yield told(kind, row[: view.places], **{name: value for name, value in named.items() if name != kind})


@pytest.mark.parametrize(
    "task", CASES, ids=lambda task: f"{task.name}-{task.cast.seen if task.unlike else ''}"
)
def test_what_is_seen_as_entities_is_what_the_flat_view_tells_no_more_and_no_less(task):
    flat, present, views, seen = looked_at(task)
    visible, teammates = np.asarray(views.shown).any(axis=-1), 0
    for world, agent in np.argwhere(present):
        expected = sorted(FROM_FLAT[task.name](task, flat[world, agent]))
        assert sorted(from_entities(views, seen[world, agent], visible[world, agent])) == expected
        teammates += visible[world, agent, : task.slots].sum() - 1
    assert teammates > WORLDS / 2  # or there was little to see
    assert not visible[~present].any()
    assert not visible[:, :, : task.slots][np.broadcast_to(~present[:, None], (WORLDS, 6, 6))].any()


def test_central_parts_get_all_of_spread_and_of_lbf_and_of_rware_what_matters():
    for task in PLAIN[:2]:
        _, _, views, _ = looked_at(task)
        np.testing.assert_array_equal(views.central.features, views.features)
        np.testing.assert_array_equal(views.central.there, views.there)
    _, present, views, _ = looked_at(PLAIN[2])
    assert views.central.there.shape == (WORLDS, 2 * 6 + 2)
    names = views.names
    robots, shelves, goals = (
        views.central.features[..., names.index(name)] > 0 for name in ("robot", "shelf", "goal")
    )
    np.testing.assert_array_equal(robots[:, :6], present)
    assert (shelves.sum(axis=1) == 5).all()  # as many requests as robots at the start
    assert views.central.features[shelves][:, names.index("requested")].all()
    assert (goals.sum(axis=1) == 2).all()


def test_whatever_stands_in_empty_slots_of_spread_is_nowhere_in_its_entities():
    task = Spread(5)
    state = jax.jit(task.reset)(jax.random.key(3), 3)
    spoilt = jax.tree.map(lambda part: part.at[3:].set(jnp.nan) if part.ndim else part, state)
    look = jax.jit(lambda state: (task.entities(state), task.entities(state).seen_by_each()))
    clean, other = look(state), look(spoilt)
    assert eqx.tree_equal(clean, other)
    assert np.isfinite(other[1]).all()
    assert not other[1][3:].any()


def test_a_task_without_entities_says_so_in_a_sentence():
    task = NamedProbe(2)
    assert not task.has_entities
    with pytest.raises(BadInput, match=r"probe does not say who sees what.*docs/extending.md"):
        task.entities(task.reset(jax.random.key(0), 2))


@dataclass(frozen=True)
class Boaster(Spread):
    """Its entities show everybody to everybody, absent ones included."""

    def entities(self, state):
        view = super().entities(state)
        return replace(view, shown=jnp.ones_like(view.shown))


def test_the_check_of_own_tasks_finds_entities_that_are_seen_by_nobody():
    problems = broken_promises(Boaster(4, horizon=2), 3)
    assert any("entities" in problem for problem in problems), problems
