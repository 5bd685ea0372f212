"""Teams of unlike agents: who is drawn, what they can do, and what they see of it."""

from dataclasses import replace
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.kinds import USUAL, Kind
from pc3d.experiment.mixes import Cast, Mix
from pc3d.experiment.mixes_file import read_mixes
from pc3d.system.errors import BadInput
from pc3d.tasks.casting import kinds_drawn
from pc3d.tasks.contract import broken_promises
from pc3d.tasks.foraging.world import Foraging
from pc3d.tasks.parity.compare import compare
from pc3d.tasks.registry import TASKS
from pc3d.tasks.spread.world import Spread
from pc3d.tasks.task import slot_keys
from pc3d.tasks.warehouse.floor import UP
from pc3d.tasks.warehouse.world import TOGGLE_LOAD, TURN_LEFT, Warehouse

A, B = Kind("a"), Kind("b", (("size", 0.1),))
COUNTED = Cast((Mix("counted", (A, B), (2.0, 4.0)),))
CHANCES = Cast((Mix("chances", (A, B), (0.2, 0.8)),))
SMALL = [Spread(4, horizon=8), Foraging(4, horizon=8), Warehouse(4, horizon=8)]
VIEWS = ("none", "own", "visible")


@lru_cache
def cast_of(name, seen="visible"):
    return Cast(read_mixes(TASKS[name].mixes).all, seen)


def only(task, seen="visible", **abilities):
    """The task with agents of one kind alone."""
    kind = Kind("only", tuple((name, float(value)) for name, value in abilities.items()))
    return task.with_cast(Cast((Mix("only", (kind,), (1.0,)),), seen))


def drawn(cast, team_size, slots, keys=200):
    def of_one(number):
        key = jax.random.key(number)
        return kinds_drawn(cast, key, slot_keys(key, slots), team_size)

    return np.asarray(jax.vmap(of_one)(jnp.arange(keys)))


def test_a_counted_mix_is_dealt_out_exactly_and_to_anybody():
    kinds = drawn(COUNTED, 6, 6)
    assert (kinds == 0).sum(axis=1).tolist() == [2] * 200
    assert np.all(np.abs((kinds == 0).mean(axis=0) - 1 / 3) < 0.12)
    assert (drawn(COUNTED, 3, 6)[:, :3] == 0).sum(axis=1).tolist() == [1] * 200


def test_slots_that_are_filled_later_have_the_proportions_as_chances():
    later = drawn(COUNTED, 2, 6)[:, 2:]
    assert abs((later == 0).mean() - 1 / 3) < 0.06
    assert len(set((later == 0).sum(axis=1).tolist())) > 1
    assert abs((drawn(CHANCES, 4, 4) == 0).mean() - 0.2) < 0.06


@pytest.mark.parametrize("cast", [COUNTED, CHANCES, Cast((*COUNTED.mixes, *CHANCES.mixes))])
def test_who_is_of_which_kind_does_not_depend_on_the_number_of_slots(cast):
    assert np.array_equal(drawn(cast, 3, 4, 50), drawn(cast, 3, 9, 50)[:, :4])


def test_every_mix_of_a_cast_is_drawn():
    alone = Cast((Mix("one", (A,), (1.0,)), Mix("other", (B,), (1.0,))))
    kinds = drawn(alone, 3, 3)
    assert abs((kinds[:, 0] == 0).mean() - 0.5) < 0.12
    assert np.all(kinds == kinds[:, :1])


@pytest.mark.parametrize("seen", VIEWS)
@pytest.mark.parametrize("task", SMALL, ids=lambda task: task.name)
def test_views_are_as_wide_as_is_said_and_padding_is_neutral(task, seen):
    assert broken_promises(task.with_cast(cast_of(task.name, seen)), 3) == []


@pytest.mark.parametrize("name", ["spread", "lbf"])
@pytest.mark.parametrize("seen", VIEWS)
def test_unlike_teams_play_the_original_game(name, seen):
    """From each kind of start; `pc3d parity TASK --mix unlike` compares more of them."""
    case = TASKS[name].parity.load().with_cast(cast_of(name, seen))
    tally = compare(case, case.opponents[0], 5, episodes=2 + len(case.scenarios), seed=2)
    assert tally.first_mismatch is None
    assert tally.steps > 100
    assert tally.left_out["float64"] == 0


def test_parity_sees_what_capabilities_do():
    """With one of them taken away, the port is another game."""
    case = TASKS["spread"].parity.load().with_cast(cast_of("spread"))
    light = replace(case, task=LightSpread(cast=case.task.cast))
    assert compare(light, case.opponents[0], 3, episodes=2, seed=0).mismatches["state"] > 0


class LightSpread(Spread):
    """Everybody's mass is 1."""

    def step(self, key, state, actions):
        able = jnp.asarray(state.capabilities).at[:, 3].set(1)
        following, outcome = super().step(key, replace(state, capabilities=able), actions)
        return replace(following, capabilities=state.capabilities), outcome


@pytest.mark.parametrize("task", SMALL, ids=lambda task: task.name)
def test_a_mix_of_the_usual_kind_alone_plays_the_usual_game(task):
    """All of it: RWARE, too, whose unlike robots have no original to be compared with."""
    unlike = task.with_cast(Cast((Mix("usual", (USUAL,), (1.0,)),), "none"))
    for number in range(3):
        usual_views, usual_rewards = played(task, number)
        views, rewards = played(unlike, number)
        if task.name != "lbf":  # where levels are hidden
            np.testing.assert_allclose(views[..., : usual_views.shape[-1]], usual_views, atol=1e-6)
        np.testing.assert_allclose(rewards, usual_rewards, atol=1e-5)


def played(task, number):
    def step(state, drawn):
        state, outcome = task.step(drawn[0], state, drawn[1])
        return state, (task.observe(state), outcome.reward)

    @jax.jit
    def episode(key):
        actions = jax.random.randint(key, (task.horizon, task.slots), 0, task.action_count)
        start = task.reset(key, task.slots)
        return jax.lax.scan(step, start, (jax.random.split(key, task.horizon), actions))[1]

    return jax.device_get(episode(jax.random.key(number)))


def test_levels_are_seen_as_far_as_capabilities_are():
    views = {
        seen: np.asarray(
            (task := only(Foraging(4), seen, level=3, sight=3)).observe(task.reset(jax.random.key(1), 4))
        )
        for seen in VIEWS
    }
    assert (views["none"][:, 2] == 0).all()
    assert (views["own"][:, 2] == 3).all()
    levels = slice(17, 27, 3)
    assert views["visible"][:, levels].max() == 3
    assert not views["own"][:, levels].any()
    assert [view.shape[1] for view in views.values()] == [27, 28, 32]


def test_food_needs_the_three_weakest_whatever_their_levels():
    mix = Mix("levels", tuple(Kind(f"k{n}", (("level", float(n)),)) for n in (5, 4, 2, 7)), (1.0,) * 4)
    state = Foraging(6).with_cast(Cast((mix,))).reset(jax.random.key(0), 4)
    assert set(np.asarray(state.food_levels)) == {11, 0}
    assert sorted(np.asarray(state.levels)[:4].tolist()) == [2, 4, 5, 7]


def test_slow_robots_act_in_every_second_step_only():
    task = only(Warehouse(2, horizon=10), period=2)
    state = task.reset(jax.random.key(3), 2)
    turned = []
    for _ in range(4):
        following, _ = task.step(jax.random.key(0), state, jnp.full(2, TURN_LEFT))
        turned.append(bool(np.any(following.directions != state.directions)))
        state = following
    assert turned == [True, False, True, False]


def test_scouts_cannot_lift():
    for carries in (0, 1):
        task = only(Warehouse(2), carries=carries)
        state = task.reset(jax.random.key(0), 2)
        state = replace(state, cells=jnp.asarray(task.floor.storage[:2], jnp.int32))
        assert bool(task.available_actions(state)[0, TOGGLE_LOAD]) is bool(carries)
        state, _ = task.step(jax.random.key(0), state, jnp.full(2, TOGGLE_LOAD))
        assert bool((state.carried > 0).all()) is bool(carries)


def test_a_longer_sensor_range_shows_sixteen_cells_more():
    near, far = (only(Warehouse(2), "none", sensor_range=reach) for reach in (1, 2))
    state = far.reset(jax.random.key(0), 2)
    middle, corner = far.floor.cell_at(3, 9), far.floor.cell_at(0, 0)
    state = replace(state, cells=jnp.array([middle, middle + 2]), directions=jnp.full(2, UP))
    views = np.asarray(far.observe(state))
    further = views[0, 71:].reshape(16, 7)
    assert further[:, 0].sum() == 1
    assert further[np.flatnonzero(further[:, 0])[0], 0] == 1
    assert far.floor.further[np.flatnonzero(further[:, 0])[0]] == 2
    alone = np.asarray(far.observe(replace(state, cells=jnp.array([corner, middle]))))[0, 71:]
    assert alone.reshape(16, 7)[:9, [0, 5, 6]].sum() == 0  # above and beside it are walls
    own = near.observe(replace(state, capabilities=near.drawn_capabilities(jax.random.key(0), 2)))
    assert not np.any(own[:, 71:])


def test_robots_show_what_they_can_do_to_their_neighbours():
    task = only(Warehouse(2), period=4)
    state = task.reset(jax.random.key(0), 2)
    cell = task.floor.cell_at(3, 9)
    beside = np.asarray(task.observe(replace(state, cells=jnp.array([cell, cell + 1]))))
    apart = np.asarray(task.observe(replace(state, cells=jnp.array([cell, cell + 5]))))
    assert beside.shape[1] == 71 + 16 * 7 + 3 + 8 * 3
    assert beside[0, -24:].reshape(8, 3)[4].tolist() == [1, 0, 1]
    assert not apart[0, -24:].any()


def test_what_no_original_has_cannot_be_compared():
    case = TASKS["rware"].parity.load().with_cast(cast_of("rware"))
    with pytest.raises(BadInput, match="our extension"):
        compare(case, case.opponents[0], 2, episodes=1, seed=0)


def test_the_whole_state_has_capabilities():
    for task in SMALL:
        usual, unlike = (
            one.global_state(one.reset(jax.random.key(0), 3))
            for one in (task, task.with_cast(cast_of(task.name)))
        )
        assert unlike.size > usual.size
