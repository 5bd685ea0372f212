"""The replay: what it keeps, what it forgets, and what is drawn from it."""

from collections import Counter

import jax
import numpy as np
import pytest

from pc3d.learners.replay import Replay
from tests.runs.made_up_rounds import SLOTS, made_round, marks_of

COUNTS = (3, 1, 5, 2, 2, 4, 1, 1, 6)  # episodes of the rounds that are played one after another


def filled(capacity: int = 8, rounds: int = 4, **more) -> Replay:
    replay = Replay(capacity, SLOTS)
    for number in range(1, rounds + 1):
        replay.add(number, made_round(number, **more))
    return replay


def same(one, other) -> bool:
    return jax.tree.all(jax.tree.map(np.array_equal, one, other))


def held(replay: Replay) -> list[int]:
    return [mark for _, episodes in replay.rounds for mark in marks_of(episodes)]


def test_what_is_drawn_depends_on_seed_and_update_alone():
    one, other = filled(), filled()
    first = one.drawn(3, 7, 50)
    np.random.seed(5)  # the state that all the world shares is none of its business
    other.drawn(0, 0, 9)
    assert same(other.drawn(3, 7, 50), first)
    assert same(one.drawn(3, 7, 50), first)


@pytest.mark.parametrize(("seed", "update"), [(4, 7), (3, 8), (7, 3)])
def test_another_seed_or_update_draws_others(seed, update):
    assert marks_of(filled().drawn(seed, update, 50)) != marks_of(filled().drawn(3, 7, 50))


@pytest.mark.parametrize("capacity", [1, 2, 5, 8, 100])
def test_the_newest_episodes_are_kept_and_older_rounds_forgotten(capacity):
    replay, played = Replay(capacity, SLOTS), []
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
    replay = filled(capacity=8, rounds=6)
    drawn = Counter(marks_of(replay.drawn(0, 0, 9000)))
    assert drawn.keys() == set(held(replay)) == {400, 401, 402, 500, 501, 502, 600, 601, 602}
    assert max(abs(count - 1000) for count in drawn.values()) < 150  # five standard deviations


def test_more_can_be_drawn_than_is_kept():
    drawn = filled(rounds=1).drawn(0, 0, 64)
    assert {len(leaf) for leaf in jax.tree.leaves(drawn)} == {64}


def test_an_episode_is_drawn_whole():
    drawn = filled(rounds=3, states=True, kept="table").drawn(1, 2, 20)
    for place, mark in enumerate(marks_of(drawn)):
        numbers = (drawn.observations, drawn.actions, drawn.kept["first"], drawn.rewards, drawn.global_states)
        assert all(set(np.unique(values[place])) <= {0, mark} for values in numbers)
        assert drawn.measures["covered"][place] == drawn.rewards[place, 0] == mark


def test_rounds_of_different_widths_are_padded_to_the_slots():
    replay = Replay(100, SLOTS)
    for number, agents in enumerate((1, 3, SLOTS), start=1):
        replay.add(number, made_round(number, agents=agents))
    drawn = replay.drawn(0, 0, 60)
    assert set(drawn.team_size) == {1, 3, SLOTS}
    inside = np.arange(SLOTS) < drawn.team_size[:, None, None]
    by_agent = (drawn.actions, drawn.kept, drawn.observations[..., 0], drawn.observations[..., 1])
    np.testing.assert_array_equal(drawn.present, np.broadcast_to(inside, drawn.present.shape))
    for values in by_agent:
        mark = np.asarray(marks_of(drawn)).reshape(-1, 1, 1)
        np.testing.assert_array_equal(values, np.broadcast_to(np.where(inside, mark, 0), values.shape))


@pytest.mark.parametrize("kept", ["array", "table", "nothing"])
def test_it_holds_numpys_arrays_of_the_types_that_were_played(kept):
    played = made_round(1, kept=kept)
    replay = Replay(3, SLOTS)
    replay.add(1, played)
    (_, remembered), drawn = replay.rounds[0], replay.drawn(0, 0, 2)
    for episodes in (remembered, drawn):
        assert jax.tree.structure(episodes) == jax.tree.structure(played)
        for leaf, before in zip(jax.tree.leaves(episodes), jax.tree.leaves(played), strict=True):
            assert isinstance(leaf, np.ndarray)
            assert leaf.dtype == before.dtype
