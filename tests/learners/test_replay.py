"""The replay: what it keeps, what it forgets, and what is drawn from it."""

from collections import Counter
from dataclasses import replace

import jax
import numpy as np
import pytest

from pc3d.experiment.algorithm_settings import ReplaySettings
from pc3d.learners.replay import Replay
from pc3d.presets.paper import paper
from pc3d.tasks.make import make_task
from tests.runs.made_up_rounds import SLOTS, made_round, marks_of

COUNTS = (3, 1, 5, 2, 2, 4, 1, 1, 6)  # episodes of the rounds that are played one after another


def empty(capacity: int, drawn: int = 50, **more) -> Replay:
    return Replay(ReplaySettings(capacity, drawn, **more))


def filled(capacity: int = 8, rounds: int = 4, drawn: int = 50, **more) -> Replay:
    replay = empty(capacity, drawn)
    for number in range(1, rounds + 1):
        replay.add(number, made_round(number, **more))
    return replay


def same(one, other) -> bool:
    return jax.tree.all(jax.tree.map(np.array_equal, one, other))


def held(replay: Replay) -> list[int]:
    return [mark for _, episodes in replay.rounds for mark in marks_of(episodes)]


def test_what_is_drawn_depends_on_seed_and_update_alone():
    one, other = filled(), filled()
    first = one.drawn(3, 7)
    np.random.seed(5)  # the state that all the world shares is none of its business
    other.drawn(0, 0)
    assert same(other.drawn(3, 7), first)
    assert same(one.drawn(3, 7), first)


@pytest.mark.parametrize(("seed", "update"), [(4, 7), (3, 8), (7, 3)])
def test_another_seed_or_update_draws_others(seed, update):
    assert marks_of(filled().drawn(seed, update)) != marks_of(filled().drawn(3, 7))


@pytest.mark.parametrize("capacity", [1, 2, 5, 8, 100])
def test_the_newest_episodes_are_kept_and_older_rounds_forgotten(capacity):
    replay, played = empty(capacity), []
    for number, count in enumerate(COUNTS, start=1):
        played += marks_of(made_round(number, count))
        replay.add(number, made_round(number, count))
        kept = held(replay)
        assert kept == played[-len(kept) :]
        assert len(kept) >= min(capacity, len(played))
        oldest = len(replay.rounds[0][1].team_size)
        assert len(kept) - oldest < capacity, "without its oldest round it would still be full"
        assert [of for of, _ in replay.rounds] == list(range(number - len(replay.rounds) + 1, number + 1))


def test_all_that_is_kept_is_drawn_alike_and_nothing_else():
    replay = filled(capacity=8, rounds=6, drawn=1800)
    drawn = Counter(marks_of(replay.drawn(0, 0)))
    assert drawn.keys() == set(held(replay)) == {400, 401, 402, 500, 501, 502, 600, 601, 602}
    assert max(abs(count - 200) for count in drawn.values()) < 70  # five standard deviations


def test_more_can_be_drawn_than_is_kept():
    drawn = filled(rounds=1, drawn=64).drawn(0, 0)
    assert {len(leaf) for leaf in jax.tree.leaves(drawn)} == {64}


def test_an_episode_is_drawn_whole():
    drawn = filled(rounds=3, drawn=20, states=True, kept="table").drawn(1, 2)
    for place, mark in enumerate(marks_of(drawn)):
        numbers = (drawn.observations, drawn.actions, drawn.kept["first"], drawn.rewards, drawn.global_states)
        assert all(set(np.unique(values[place])) <= {0, mark} for values in numbers)
        assert drawn.measures["covered"][place] == drawn.rewards[place, 0] == mark


def test_rounds_of_different_widths_are_padded_to_the_widest():
    replay = empty(100, drawn=60)
    for number, agents in enumerate((1, 3, SLOTS), start=1):
        replay.add(number, made_round(number, agents=agents))
    drawn = replay.drawn(0, 0)
    assert set(drawn.team_size) == {1, 3, SLOTS}
    inside = np.arange(SLOTS) < drawn.team_size[:, None, None]
    by_agent = (drawn.actions, drawn.kept, drawn.observations[..., 0], drawn.observations[..., 1])
    np.testing.assert_array_equal(drawn.present, np.broadcast_to(inside, drawn.present.shape))
    for values in by_agent:
        mark = np.asarray(marks_of(drawn)).reshape(-1, 1, 1)
        np.testing.assert_array_equal(values, np.broadcast_to(np.where(inside, mark, 0), values.shape))


@pytest.mark.parametrize("kept", ["array", "table", "nothing"])
def test_what_is_drawn_are_numpys_arrays_of_the_types_that_were_played(kept):
    played = made_round(1, kept=kept)
    replay = empty(3, drawn=2)
    replay.add(1, played)
    drawn = replay.drawn(0, 0)
    assert jax.tree.structure(drawn) == jax.tree.structure(played)
    for leaf, before in zip(jax.tree.leaves(drawn), jax.tree.leaves(played), strict=True):
        assert isinstance(leaf, np.ndarray)
        assert leaf.dtype == before.dtype


def seeing(*numbers: float):
    """A round in which these numbers are seen again and again."""
    played = made_round(1, states=True)
    extents = played.observations.shape
    return replace(played, observations=np.resize(np.asarray(numbers, np.float32), extents))


@pytest.mark.parametrize(
    ("numbers", "width"),
    [
        ((0, 1, -128, 127), 1),
        ((0, 1, 128), 4),
        ((0, 1, -129), 4),
        ((0.0, 0.5), 4),
        ((-0.0, 1.0), 4),
        ((np.nan, 1.0), 4),
        ((np.inf, 1.0), 4),
    ],
    ids=str,
)
def test_small_whole_numbers_are_held_in_a_byte_each_and_come_back_to_the_bit(numbers, width):
    replay, played = empty(3, drawn=9), seeing(*numbers)
    replay.add(1, played)
    (_, held) = replay.rounds[0]
    assert held.observations.dtype.itemsize == width
    assert held.global_states.dtype.itemsize == 1  # each by itself: these are marks of round 1
    drawn = replay.drawn(0, 0)
    for place, mark in enumerate(marks_of(drawn)):
        assert drawn.observations[place].tobytes() == played.observations[mark - 100].tobytes()
        assert drawn.global_states[place].tobytes() == np.asarray(played.global_states[mark - 100]).tobytes()


def test_rwares_replay_fits_into_two_gibibytes():
    """By the bytes of one of its longest episodes with the largest team it is trained with."""
    experiment = paper("rware", "pc3d-qmix")
    slots = max(stage.largest for stage in experiment.curriculum.stages)
    task = make_task(experiment).with_slots(slots)
    episode = replace(
        made_round(1, count=1, agents=slots, steps=task.horizon, kept="nothing"),
        observations=np.ones((1, task.horizon + 1, slots, task.observation_width), np.float32),
    )
    remembered = np.ones((1, task.horizon, slots, experiment.actor.rnn_dim), np.float32)
    for settings in (experiment.algorithm, replace(experiment.algorithm, stored_memory=True)):
        replay = Replay(settings.replay)
        replay.add(1, replace(episode, kept={"memory": remembered} if settings.stored_memory else None))
        each = sum(leaf.nbytes for leaf in jax.tree.leaves(replay.rounds[0][1]))
        assert each * settings.replay.capacity < 2 * 2**30


LONG = 11  # steps


def long_round(ends: int = LONG):
    """Two episodes whose numbers tell the moment, besides the episode."""
    clock = np.arange(LONG + 1, dtype=np.float32)
    seen = np.stack([clock, 50 + clock])[..., None, None]
    return replace(
        made_round(1, count=2, agents=1, steps=LONG, kept="nothing"),
        observations=np.concatenate([seen, seen], axis=-1),
        actions=seen[:, :-1, :, 0].astype(np.int32),
        rewards=seen[:, :-1, 0, 0],
        played=np.broadcast_to(clock[:-1] < ends, (2, LONG)),
        terminated=np.broadcast_to(clock[:-1] == ends - 1, (2, LONG)),
    )


@pytest.mark.parametrize(("steps", "burn_in"), [(4, 0), (4, 2), (3, 5), (LONG, 2), (100, 2)])
@pytest.mark.parametrize("ends", [LONG, 6])
def test_every_step_of_a_long_episode_counts_in_exactly_one_of_its_stretches(steps, burn_in, ends):
    replay = empty(2, drawn=300, sequence_steps=steps, burn_in=burn_in)
    replay.add(1, long_round(ends))
    drawn = replay.drawn(0, 0)
    stretches = {tuple(drawn.rewards[place][drawn.played[place]]) for place in range(300)}
    assert sorted(step for one in stretches for step in one) == [
        float(base + step) for base in (0, 50) for step in range(ends)
    ]


@pytest.mark.parametrize("burn_in", [0, 2])
def test_a_stretch_comes_with_what_was_remembered_before_it(burn_in):
    played = long_round()
    # What is remembered after a step tells which one it was; the second agent comes with the fourth moment.
    clock = 1 + np.asarray(played.actions, np.float32)[..., None]
    present = np.stack([np.ones((2, LONG + 1), bool), np.tile(np.arange(LONG + 1) >= 4, (2, 1))], axis=-1)
    played = replace(
        played,
        observations=np.repeat(played.observations, 2, axis=2),
        actions=np.repeat(played.actions, 2, axis=2),
        present=present,
        kept={"memory": np.repeat(clock, 2, axis=2)},
    )
    replay = empty(2, drawn=60, sequence_steps=4, burn_in=burn_in, first_memories=True)
    replay.add(1, played)
    assert replay.rounds[0][1].kept["memory"].shape == (2, 3, 2, 1)  # one for each piece, not for each step
    drawn = replay.drawn(0, 0)
    memories, moments = drawn.kept["memory"][:, 0, :, 0], drawn.observations[:, 0, 0, 0]
    begins = moments % 50
    assert len(set(begins)) == 3
    np.testing.assert_array_equal(memories[:, 0], np.where(begins == 0, 0, moments))
    np.testing.assert_array_equal(memories[:, 1], np.where(begins <= 4, 0, moments))


def test_a_stretch_comes_with_what_was_before_it_and_the_moment_after():
    replay = empty(2, drawn=60, sequence_steps=4, burn_in=2)
    replay.add(1, long_round())
    drawn = replay.drawn(0, 0)
    assert drawn.rewards.shape == (60, 6)
    assert drawn.observations.shape == (60, 7, 1, 2)
    for place in range(60):
        moments, played = drawn.observations[place, :, 0, 0], drawn.played[place]
        (first, *_) = np.flatnonzero(played)
        assert first == (0 if moments[0] in (0, 50) else 2)
        last = np.flatnonzero(played)[-1]
        np.testing.assert_array_equal(np.diff(moments[: last + 2]), 1)
        np.testing.assert_array_equal(drawn.actions[place, played, 0], moments[:-1][played])
        assert drawn.present[place].all()
