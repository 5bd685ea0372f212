"""How long joiners and incumbents wait for their first contribution, in episodes made up by hand."""

import jax
import numpy as np
import pytest

from pc3d.evaluation.again import seen_again
from pc3d.evaluation.changing.censored import CensoredTimes
from pc3d.evaluation.changing.joiners import waiting_times
from pc3d.play.rota import Rota
from pc3d.tasks.spread.world import Spread

# One rollout of six steps: the second agent joins before the third step (2), and leaves before the sixth (5);
# the third joins at 4, and is there to the end.
PRESENT = np.array([[[1, 1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1, 1]]], bool).transpose(
    0, 2, 1
)
PLAYED = np.ones((1, 6), bool)


def contributed(*places):
    """At these steps, by these agents."""
    found = np.zeros((1, 6, 3), bool)
    for step, agent in places:
        found[0, step, agent] = True
    return found


def told(times):
    return sorted(zip(times.steps.tolist(), times.seen.tolist(), strict=True))


def test_steps_are_counted_from_joining_to_the_first_contribution():
    waiting = waiting_times(contributed((3, 1), (4, 1), (4, 2), (0, 0), (5, 0)), PLAYED, PRESENT)
    assert told(waiting.joiners) == [(1, True), (2, True)]  # at their second and at their very first step
    # The first agent at both moments, and the second one when the third joins.
    assert told(waiting.incumbents) == [(1, True), (2, True), (4, True)]


def test_who_leaves_or_sees_the_end_was_looked_at_for_as_long_as_it_played():
    waiting = waiting_times(contributed((5, 1)), PLAYED, PRESENT)  # when it is no longer there
    assert told(waiting.joiners) == [(2, False), (3, False)]
    early = PLAYED & (np.arange(6) < 5)
    assert told(waiting_times(contributed((5, 2)), early, PRESENT).joiners) == [(1, False), (3, False)]


def test_whoever_takes_a_slot_again_does_not_wait_for_the_next_one():
    present = np.array([[[1, 1, 1, 1, 1, 1, 1], [0, 1, 0, 1, 1, 1, 1]]], bool).transpose(0, 2, 1)
    found = np.zeros((1, 6, 2), bool)
    found[0, 4, 1] = True
    assert told(waiting_times(found, PLAYED, present).joiners) == [(1, False), (2, True)]


@pytest.mark.parametrize("present", [np.ones((1, 7, 3), bool), PRESENT[:, :1] & np.ones((1, 7, 1), bool)])
def test_where_nobody_joins_nothing_is_told(present):
    assert waiting_times(contributed(), PLAYED, present) is None


def test_a_life_table_holds_all_there_is():
    times = CensoredTimes(np.array([3, 1, 3, 3]), np.array([True, True, False, True]))
    assert times.life_table() == [[1, 1, 0], [3, 2, 1]]
    assert told(CensoredTimes.of_life_table(times.life_table())) == told(times)
    assert told(CensoredTimes.together([times, times])) == sorted(2 * told(times))
    assert told(CensoredTimes.of_life_table([])) == []


def test_a_step_is_seen_again_before_anybody_leaves_or_joins():
    task, actions = Spread(3, horizon=6), np.zeros((1, 6, 3), int)
    keys, rota = jax.random.split(jax.random.key(0), 1), Rota.of(jax.numpy.asarray(PRESENT))

    def there(before, actions, after):
        del actions
        return task.present(before) & task.present(after)

    seen = jax.jit(lambda rota: seen_again(task, keys, np.ones(1, np.int32), actions, there, rota))(rota)
    np.testing.assert_array_equal(np.moveaxis(seen, 0, 1), PRESENT[:, :-1])
