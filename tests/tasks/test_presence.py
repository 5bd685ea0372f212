"""Who is there, drawn from every process: realised statistics, and what must not matter."""

from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.named_rosters import NAMED
from pc3d.experiment.roster_process import CONSTANT, Churn, Event, Schedule, Shock, Spans
from pc3d.tasks.presence import presence

HORIZON = 120
EPISODES = 48
FEWEST = 3
SPREADS = 4.5  # standard deviations that a statistic may be off: once in 100,000 draws, and keys are fixed


@partial(jax.jit, static_argnums=(0, 2, 3, 4))
def draw(process, team_size, slots, horizon, fewest):
    keys = jax.random.split(jax.random.key(5), EPISODES)
    one = partial(presence, process, slots=slots, horizon=horizon, fewest=fewest)
    return jax.vmap(lambda key: one(key, team_size))(keys)


def drawn(process, team_size, slots, horizon=HORIZON, fewest=1):
    return np.asarray(draw(process, jnp.int32(team_size), slots, horizon, fewest))


def leaving(present):
    return present[:, :-1] & ~present[:, 1:]


def joining(present):
    return ~present[:, :-1] & present[:, 1:]


def stays(present, value=True):
    """The lengths of all stretches in which a slot is filled (or empty) that begin and end in an episode."""
    found = []
    for slot in np.moveaxis(present, 2, 1).reshape(-1, present.shape[1]):
        edges = np.flatnonzero(slot[1:] != slot[:-1]) + 1
        found += [end - start for start, end in pairwise(edges) if slot[start] == value]
    return np.array(found)


def assert_share(found, trials, share):
    """The number of successes is what a chance gives, within the bound."""
    assert trials > 500
    assert abs(found / trials - share) < SPREADS * np.sqrt(share * (1 - share) / trials)


def test_agents_leave_and_slots_are_taken_with_the_chances_of_a_churn():
    present = drawn(Churn(leave=0.02, join=0.03, smallest=1, largest=30), 12, 30)
    assert present.sum(axis=2).min() > 1
    assert present.sum(axis=2).max() < 30  # no bound was in the way
    assert_share(leaving(present).sum(), present[:, :-1].sum(), 0.02)
    assert_share(joining(present).sum(), (~present[:, :-1]).sum(), 0.03)


def test_a_churn_counted_in_episodes_has_as_many_departures_in_an_episode():
    present = drawn(Churn(leave=2, join=2, clock="episodes", smallest=1, largest=30), 15, 30)
    assert_share(leaving(present).sum(), present[:, :-1].sum(), 2 / HORIZON)


def test_the_mean_size_of_a_churn_is_the_stationary_one():
    sizes = drawn(Churn(leave=0.05, join=0.1, smallest=1, largest=30), 20, 30).sum(axis=2)
    assert abs(sizes[:, 30:].mean() - 20) < 0.5  # 30 · 0.1 / (0.1 + 0.05)


@pytest.mark.parametrize("name", ["churn-fast", "gpl-lbf", "gpl-wolfpack"])
@pytest.mark.parametrize("team_size", [2, 5, 8])
def test_sizes_stay_within_the_limits_and_reach_them(name, team_size):
    process = NAMED[name]
    sizes = drawn(process, team_size, 10, fewest=FEWEST).sum(axis=2)
    smallest, largest, _ = process.limits(team_size, FEWEST)
    assert (sizes.min(), sizes.max()) == (smallest, largest)
    assert smallest >= min(FEWEST, team_size)


def test_nobody_leaves_a_churn_before_the_minimum_stay():
    present = drawn(Churn(leave=0.3, join=0.3, minimum_stay=7, smallest=1), 8, 8)
    assert stays(present).min() == 7


def test_bursts_of_the_team_are_as_frequent_and_as_large_as_said():
    process = Churn(leave=0.05, join=0.1, per="team", burst=(0.7, 0.3), smallest=1, largest=40)
    present = drawn(process, 20, 40)
    left, came = leaving(present).sum(axis=2), joining(present).sum(axis=2)
    assert_share((came > 0).sum(), came.size, 0.1)
    assert_share((left > 0).sum(), left.size, 0.05)
    assert_share((came == 2).sum(), (came > 0).sum(), 0.3)
    assert came.max() == left.max() == 2


def test_gpls_wolfpack_keeps_everybody_for_26_steps():
    assert stays(drawn(NAMED["gpl-wolfpack"], 5, 5, horizon=400)).min() == 26


def test_spans_are_drawn_evenly_from_their_ranges():
    process = Spans(present=(10, 19), away=(15, 24), smallest=1, largest=20, stay=1)
    present = drawn(process, 10, 20, horizon=200)
    for lengths, shortest in ((stays(present), 10), (stays(present, value=False), 15)):
        assert (lengths.min(), lengths.max()) == (shortest, shortest + 9)
        assert_share((lengths < shortest + 5).sum(), len(lengths), 0.5)


def test_in_gpls_lbf_the_first_slot_is_never_left():
    present = drawn(NAMED["gpl-lbf"], 5, 5)
    assert present[:, :, 0].all()
    assert not present[:, :, 1:].all(axis=(0, 1)).any()


@pytest.mark.parametrize(
    ("name", "after", "left", "came"),
    [
        ("lose-half", 3, 3, 0),
        ("gain-one", 7, 0, 1),
        ("replace-half", 6, 3, 3),
    ],
)
def test_a_shock_is_one_change_of_a_known_size_at_an_unknown_moment(name, after, left, came):
    present = drawn(NAMED[name], 6, 9)
    changed = (present[:, 1:] != present[:, :-1]).any(axis=2)
    np.testing.assert_array_equal(changed.sum(axis=1), 1)
    np.testing.assert_array_equal(leaving(present).sum(axis=(1, 2)), left)
    np.testing.assert_array_equal(joining(present).sum(axis=(1, 2)), came)
    np.testing.assert_array_equal(present[:, -1].sum(axis=1), after)
    moments = changed.argmax(axis=1) + 1
    assert moments.min() >= 48
    assert moments.max() <= 72
    assert len(set(moments)) > 12


def test_everybody_is_as_likely_to_leave():
    left = leaving(drawn(Shock(leave=3), 6, 6)).sum(axis=(0, 1))
    assert np.abs(left - EPISODES / 2).max() < SPREADS * np.sqrt(EPISODES / 4)


def test_where_a_task_needs_some_a_share_that_leaves_is_smaller():
    smallest = [NAMED["lose-half"].limits(size, FEWEST).smallest for size in (2, 3, 4, 5, 6, 8)]
    assert smallest == [2, 3, 3, 3, 3, 4]
    assert drawn(NAMED["lose-half"], 4, 4, fewest=FEWEST)[:, -1].sum(axis=1).tolist() == [3] * EPISODES


def test_a_schedule_changes_when_and_by_how_many_it_says():
    schedule = Schedule((Event(30, leave=2), Event(50, join=3), Event(90, leave=1, join=1)))
    sizes = drawn(schedule, 5, 7).sum(axis=2)
    np.testing.assert_array_equal(sizes, [[5] * 30 + [3] * 20 + [6] * 71] * EPISODES)
    assert schedule.limits(5, 1) == (3, 6, 7)


@pytest.mark.parametrize("name", ["churn-fast", "replace-half", "gpl-lbf", "gpl-wolfpack"])
def test_a_wider_world_changes_nobody_and_nobody_fills_its_further_slots(name):
    slots = NAMED[name].limits(5, 1).slots
    narrow, wide = drawn(NAMED[name], 5, slots), drawn(NAMED[name], 5, slots + 4)
    np.testing.assert_array_equal(wide[:, :, :slots], narrow)
    assert not wide[:, :, slots:].any()


def test_constant_rosters_are_the_first_slots():
    np.testing.assert_array_equal(
        drawn(CONSTANT, 4, 6), np.broadcast_to(np.arange(6) < 4, (EPISODES, HORIZON + 1, 6))
    )
