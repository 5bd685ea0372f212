"""Large teams: programs do not grow with the team, and scaled worlds keep their density."""

import re
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.system.errors import BadInput
from pc3d.tasks.registry import TASKS, entry_of
from tests.probes import Probe

KEY = jax.random.key(0)
PARTS = ("reset", "step", "observe")


def operations(name: str, slots: int, part: str) -> int:
    """How many operations the program of a task's part has, before any of them is compiled."""
    task = entry_of(name).make(slots, world="scaled")
    state = jax.eval_shape(task.reset, KEY, slots)
    inputs = {
        "reset": (partial(task.reset, team_size=slots), (KEY,)),
        "step": (task.step, (KEY, state, jax.ShapeDtypeStruct((slots,), jnp.int32))),
        "observe": (task.observe, (state,)),
    }
    function, arguments = inputs[part]
    return len(re.findall(r"stablehlo\.", jax.jit(function).lower(*arguments).as_text()))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", sorted(TASKS))
def test_a_program_is_as_long_for_128_agents_as_for_64_and_at_most_twice_as_long_as_for_8(name, part):
    few, some, many = (operations(name, slots, part) for slots in (8, 64, 128))
    assert many <= some * 1.01
    assert many <= few * 2


@pytest.mark.parametrize("name", sorted(TASKS))
def test_density_is_that_of_the_largest_training_team(name):
    entry = entry_of(name)
    reference = max(entry.paper.rosters.train)
    assert entry.task_class.reference_team == reference
    for slots in (reference, entry.task_class.smallest_team):  # and smaller teams play in the paper's world
        scaled, crowded = (entry.make(slots, world=world) for world in ("scaled", "crowded"))
        assert jax.tree.all(jax.tree.map(np.array_equal, scaled.reset(KEY, slots), crowded.reset(KEY, slots)))


@pytest.mark.parametrize("slots", [16, 32, 64, 128])
def test_everything_grows_with_the_team(slots):
    spread, lbf, rware = (entry_of(name).make(slots, world="scaled") for name in ("spread", "lbf", "rware"))
    assert (2 * spread.half_side) ** 2 / slots == pytest.approx(4 / 8)
    assert lbf.field.side**2 / slots == pytest.approx(100 / 6, rel=0.05)
    assert lbf.field.foods == slots / 2
    floor = rware.floor
    assert (floor.inside.sum(), floor.shelves, len(floor.goals)) == (25 * slots, 10 * slots, slots / 4)
    assert 1 / 4 <= floor.rows / floor.columns <= 1


def test_scaled_starts_fill_the_larger_square():
    task = entry_of("spread").make(32, world="scaled")
    start = task.reset(KEY, 32)
    for points in (start.positions, start.landmarks):
        assert 1.6 < np.abs(points).max() <= task.half_side == 2


@pytest.mark.parametrize("slots", [8, 96])
def test_foods_of_a_crowd_lie_where_there_is_room(slots):
    """As in the original: on nobody, off the border, apart; and fewer where four do not fit."""
    task = entry_of("lbf").make(slots)
    starts = jax.jit(jax.vmap(partial(task.reset, team_size=slots)))(jax.random.split(KEY, 50))
    placed = np.asarray(starts.food_levels) > 0
    assert placed.all() == (slots == 8)
    taken = np.all(np.asarray(starts.positions)[:, :, None] == starts.food_positions[:, None], axis=-1)
    assert not np.any(taken.any(axis=1) & placed)
    assert np.all((np.asarray(starts.food_positions) % 9 > 0).all(axis=-1) | ~placed)
    np.testing.assert_array_equal(starts.spawned_level, starts.food_levels.sum(axis=-1))


@pytest.mark.parametrize(
    ("name", "slots", "world", "sentence"),
    [
        ("lbf", 128, "crowded", r"2 to 96 agents .* not 128"),
        ("rware", 128, "crowded", r"2 to 79 agents .* not 128"),
        ("spread", 1001, "crowded", r"1 to 1000 agents, not 1001"),
        ("rware", 1001, "scaled", r"2 to 1000 agents, not 1001"),
    ],
)
def test_a_world_says_how_many_it_holds(name, slots, world, sentence):
    with pytest.raises(BadInput, match=sentence):
        entry_of(name).make(slots, world=world)


def test_a_task_without_a_scaled_world_says_so():
    with pytest.raises(BadInput, match="probe has no scaled world"):
        Probe(2, world="scaled")
