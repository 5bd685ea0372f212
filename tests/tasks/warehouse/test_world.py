"""The warehouse against rware itself, and what must hold for every team and padding."""

import sys
from functools import lru_cache, partial
from itertools import product

import equinox as eqx
import jax
import jax.numpy as jnp
import networkx
import numpy as np
import pytest
from scipy.stats import chisquare

from pc3d.system.errors import BadInput, MissingExtra
from pc3d.tasks.warehouse.floor import DOWN, LEFT, NOTHING, RIGHT, UP, floor_of
from pc3d.tasks.warehouse.original import OriginalWarehouse
from pc3d.tasks.warehouse.parity import CASE
from pc3d.tasks.warehouse.world import (
    FORWARD,
    STAY,
    TOGGLE_LOAD,
    TURN_LEFT,
    Warehouse,
    WarehouseState,
)

TEAM_SIZES = (2, 5, 10)
SCENARIO_EPISODES = 10
SIGNIFICANCE = 1e-3
KEY = jax.random.key(0)
SMALL = floor_of(1)


def play_original(team_size, index_ties):
    """Steps of the original from every scenario to the end of its episode."""
    world = OriginalWarehouse(Warehouse(team_size), index_ties)
    generator = np.random.default_rng(team_size)
    for scenario in list(CASE.scenarios.values()) * SCENARIO_EPISODES:
        world.load(scenario(generator, world.task))
        # A ring turns only if everyone drives at once, so in some episodes almost everyone does.
        ended, eagerness = False, generator.random()
        while not ended:
            state, view = world.read(), world.observe()
            drives = generator.random(team_size) < eagerness
            actions = np.where(drives, FORWARD, generator.integers(5, size=team_size))
            key = generator.integers(2**32, size=2, dtype=np.uint32)
            world.follow(jax.random.wrap_key_data(key))
            outcome = world.step(actions)
            yield state, view, actions, key, world.read(), outcome
            ended = outcome.truncated


@lru_cache
def recorded(team_size, index_ties):
    return jax.tree.map(lambda *values: np.stack(values), *play_original(team_size, index_ties))


@lru_cache
def port(team_size):
    """The port's side of all recorded steps at once."""
    task = Warehouse(team_size)

    def play(state, actions, key):
        after, outcome = task.step(jax.random.wrap_key_data(key), state, actions)
        return after, outcome, task.observe(state), task.traffic(state, actions).tied

    return jax.jit(jax.vmap(play))


@lru_cache
def replayed(team_size, index_ties):
    state, _, actions, key, _, _ = recorded(team_size, index_ties)
    return jax.tree.map(np.asarray, port(team_size)(state, actions, key))


def assert_equal_where(mask, ours, theirs):
    for our, their in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_array_equal(np.asarray(our)[mask], np.asarray(their)[mask])


RECORDED_QUICKLY = {(10, True), (5, False)}


@pytest.mark.parametrize(
    ("team_size", "index_ties"),
    [
        pytest.param(*each, marks=[] if each in RECORDED_QUICKLY else pytest.mark.slow)
        for each in product(TEAM_SIZES, (False, True))
    ],
)
def test_port_and_original_agree_on_every_step_that_ties_do_not_decide(team_size, index_ties):
    _, view, _, _, following, outcome = recorded(team_size, index_ties)
    our_following, our_outcome, our_view, tied = replayed(team_size, index_ties)
    compared = np.ones_like(tied) if index_ties else ~tied
    assert_equal_where(compared, our_following, following)
    assert_equal_where(compared, our_outcome, outcome)
    assert_equal_where(np.ones_like(tied), our_view, view)


def test_the_recorded_steps_hold_what_they_are_recorded_for():
    state, _, actions, _, following, outcome = recorded(10, True)
    moved = state.cells != following.cells
    takes_place_of = (following.cells[:, :, None] == state.cells[:, None, :]) & moved[:, :, None]
    in_rings_of_four = np.trace(np.linalg.matrix_power(takes_place_of.astype(int), 4), axis1=1, axis2=2)
    assert np.sum(in_rings_of_four > 0) >= 3
    assert np.sum(outcome.reward == 1) >= 10
    assert np.sum(outcome.reward == 2) >= 1
    assert replayed(10, True)[-1].sum() >= 20
    assert np.sum((actions == TOGGLE_LOAD) & (following.carried != state.carried)) >= 50


def test_the_original_is_patched_only_during_its_own_step():
    world, search = OriginalWarehouse(Warehouse(2), index_ties=True), networkx.algorithms.dag_longest_path
    world.step(np.array([FORWARD, FORWARD]))
    assert networkx.algorithms.dag_longest_path is search
    with pytest.raises(ValueError, match="not a valid Action"):
        world.step(np.array([7, 7]))
    assert networkx.algorithms.dag_longest_path is search


def test_without_rware_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "rware.warehouse", None)
    with pytest.raises(MissingExtra, match="originals"):
        OriginalWarehouse(Warehouse(2))


@pytest.mark.parametrize("slots", [1, 80])
def test_teams_that_cannot_be_are_refused(slots):
    with pytest.raises(BadInput, match=r"2 to 79 agents .there are as many requests, and 80 shelves., not"):
        Warehouse(slots)


def with_garbage(task, state, wide):
    """The state of a narrow world in a wide one, with nonsense in the padded slots."""

    def padded(values):
        if values.shape != (task.slots,):
            return values
        return jnp.concatenate([values, values[:1], jnp.full(wide.slots - task.slots - 1, -77777)])

    return jax.tree.map(padded, state)


@pytest.mark.parametrize("team_size", [2, 8])
def test_a_team_plays_the_same_in_a_wider_world_whatever_stands_in_padded_slots(team_size):
    narrow, wide = Warehouse(team_size), Warehouse(10)
    generator = np.random.default_rng(team_size)
    start = jax.tree.map(jnp.asarray, CASE.scenarios["conveyor"](generator, narrow))
    actions = generator.choice([FORWARD, FORWARD, FORWARD, TURN_LEFT, TOGGLE_LOAD], (60, team_size))
    garbage = generator.integers(-9, 9, (60, 10 - team_size))

    def play(task, state, actions):
        def step(state, inputs):
            key, actions = inputs
            following, outcome = task.step(key, state, actions)
            seen = task.observe(state), task.global_state(state), task.available_actions(state)
            return following, (following, outcome, seen)

        return jax.lax.scan(step, state, (jax.random.split(KEY, 60), actions))[1]

    expected = jax.jit(partial(play, narrow))(start, actions)
    padded = with_garbage(narrow, start, wide)
    found = jax.jit(partial(play, wide))(padded, np.append(actions, garbage, axis=1))
    assert expected[1].reward.sum() > 0
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        per_agent = ours.shape != theirs.shape
        np.testing.assert_array_equal(ours[:, :team_size] if per_agent else ours, theirs)
    assert not np.any(found[2][0][:, team_size:])  # padded slots see nothing


def test_a_reset_does_not_depend_on_the_padding():
    narrow, wide = (jax.jit(Warehouse(slots).reset)(KEY, 3) for slots in (3, 10))
    for ours, theirs in zip(jax.tree.leaves(wide), jax.tree.leaves(narrow), strict=True):
        np.testing.assert_array_equal(ours[:3] if ours.shape == (10,) else ours, theirs)


def test_permuting_agents_permutes_what_they_see_and_where_they_go():
    state, _, actions, key, _, _ = recorded(10, True)
    order = np.random.default_rng(0).permutation(10)

    def permuted(state):
        fields = [state.cells[:, order], state.directions[:, order], state.carried[:, order]]
        return eqx.tree_at(lambda state: [state.cells, state.directions, state.carried], state, fields)

    ours, outcome, found_view, _ = port(10)(permuted(state), actions[:, order], key)
    expected, expected_outcome, view, tied = replayed(10, True)
    assert_equal_where(~tied, ours, permuted(expected))
    assert_equal_where(~tied, outcome, expected_outcome)
    np.testing.assert_array_equal(found_view, view[:, order])


def test_resets_are_drawn_like_the_originals():
    """Both are compared with the uniform distributions they stand for, at significance 0.001 each."""
    world, task = OriginalWarehouse(Warehouse(4)), Warehouse(4)
    originals = []
    for seed in range(1500):
        world.reset(seed)
        originals.append(world.read())
    ports = jax.jit(jax.vmap(partial(task.reset, team_size=4)))(jax.random.split(KEY, 20_000))
    for starts in (jax.tree.map(lambda *values: np.stack(values), *originals), ports):
        for cells in (starts.cells, starts.cells[:, 3]):
            assert is_uniform(np.asarray(cells), np.flatnonzero(SMALL.inside))
        for requests in (starts.requests, starts.requests[:, 3]):
            assert is_uniform(np.asarray(requests), np.arange(1, SMALL.shelves + 1))
        assert is_uniform(np.asarray(starts.directions), np.arange(4))
        for distinct in (starts.cells, starts.requests):
            assert np.all(np.diff(np.sort(distinct, axis=1), axis=1) > 0)
        assert np.all(np.asarray(starts.standing) == SMALL.all_stored)
        assert not np.any(starts.carried)


def is_uniform(drawn, values):
    counts = np.bincount(drawn.ravel(), minlength=values.max() + 1)
    assert counts.sum() == counts[values].sum()
    return chisquare(counts[values]).pvalue > SIGNIFICANCE


def floor(*poses, carried=None, requests=None):
    """A state with robots at (x, y, direction) and no shelf anywhere but on robots."""
    team_size = len(poses)
    state = WarehouseState(
        team_size=np.int32(team_size),
        time=np.int32(0),
        cells=np.array([SMALL.cell_at(x, y) for x, y, _ in poses], np.int32),
        directions=np.array([direction for _, _, direction in poses], np.int32),
        carried=np.array(carried or [NOTHING] * team_size, np.int32),
        standing=np.zeros_like(SMALL.all_stored),
        requests=np.array(requests or range(71, 71 + team_size), np.int32),
        deliveries=np.int32(0),
    )
    return jax.tree.map(jnp.asarray, state)


@lru_cache
def compiled_step(team_size):
    return jax.jit(Warehouse(team_size).step)


def step(state, *actions):
    return compiled_step(len(actions))(KEY, state, jnp.array(actions))


def moved(state, *actions):
    return (step(state, *actions)[0].cells != state.cells).tolist()


def test_a_delivery_is_rewarded_once_and_another_shelf_is_requested():
    state = floor((4, 18, DOWN), (0, 0, UP), carried=[7, NOTHING], requests=[30, 7])
    after, outcome = step(state, FORWARD, STAY)
    assert outcome.reward == outcome.measures["deliveries"] == after.deliveries == 1
    assert after.requests[0] == 30
    assert after.requests[1] not in (7, 30)
    assert after.carried.tolist() == [7, NOTHING]
    assert step(after, STAY, STAY)[1].reward == 0


def test_new_requests_are_uniform_over_the_shelves_that_were_not_requested():
    state = floor((4, 18, DOWN), (5, 18, DOWN), carried=[7, 80], requests=[80, 7])
    play = jax.jit(jax.vmap(lambda key: Warehouse(2).step(key, state, jnp.array([FORWARD, FORWARD]))))
    after, outcome = play(jax.random.split(KEY, 20_000))
    first, second = np.asarray(after.requests[:, 1]), np.asarray(after.requests[:, 0])
    assert np.all(outcome.reward == 2)
    assert is_uniform(first, np.setdiff1d(np.arange(1, 81), [7, 80]))
    assert not np.any(second == first)
    # The shelf delivered at the first goal may be requested again at the second, its own shelf may not.
    assert set(second.tolist()) == set(range(1, 80))


def test_a_shelf_on_the_second_goal_that_the_first_goal_requests_is_delivered_in_the_same_step():
    state = floor((4, 18, DOWN), (5, 19, UP), carried=[7, 9], requests=[7, 20])
    play = jax.jit(jax.vmap(lambda key: Warehouse(2).step(key, state, jnp.array([FORWARD, STAY]))))
    after, outcome = play(jax.random.split(KEY, 80_000))
    relayed = np.asarray(outcome.reward) == 2
    assert relayed.mean() == pytest.approx(
        1 / 78, rel=0.1
    )  # of 78 shelves one is requested, and one is there
    assert np.all(after.requests[:, 1] == 20)
    assert set(np.asarray(after.requests)[relayed, 0].tolist()) == {*range(1, 81)} - {9, 20}


def test_a_swap_of_two_is_blocked():
    assert moved(floor((1, 0, RIGHT), (2, 0, LEFT)), FORWARD, FORWARD) == [False, False]


def test_a_ring_of_four_turns():
    ring = floor((0, 0, RIGHT), (1, 0, DOWN), (1, 1, LEFT), (0, 1, UP))
    assert moved(ring, *[FORWARD] * 4) == [True] * 4
    assert moved(ring, FORWARD, FORWARD, FORWARD, TURN_LEFT) == [False] * 4


def test_who_queues_behind_a_turning_ring_waits():
    ring = floor((0, 0, RIGHT), (1, 0, DOWN), (1, 1, LEFT), (0, 1, UP), (2, 0, LEFT))
    assert moved(ring, *[FORWARD] * 5) == [True] * 4 + [False]


def test_of_two_queues_for_one_cell_the_longer_drives_whatever_the_indices():
    queues = floor((2, 0, RIGHT), (4, 0, LEFT), (5, 0, LEFT))
    assert moved(queues, FORWARD, FORWARD, FORWARD) == [False, True, True]


def test_of_equally_long_queues_the_one_with_the_lowest_index_drives():
    state = floor((4, 0, LEFT), (2, 0, RIGHT))
    assert moved(state, FORWARD, FORWARD) == [True, False]
    assert Warehouse(2).traffic(state, jnp.array([FORWARD, FORWARD])).tied
    assert not Warehouse(2).traffic(state, jnp.array([FORWARD, STAY])).tied


def test_toggling_on_a_highway_does_nothing():
    state = floor((4, 19, UP), (0, 0, UP), carried=[7, NOTHING])
    after, _ = step(state, TOGGLE_LOAD, TOGGLE_LOAD)
    assert after.carried.tolist() == [7, NOTHING]
    assert not np.any(after.standing)


def test_a_shelf_is_put_down_and_lifted_again_in_storage():
    state = floor((1, 1, UP), (0, 0, UP), carried=[7, NOTHING])
    down, _ = step(state, TOGGLE_LOAD, STAY)
    assert down.carried[0] == NOTHING
    assert down.standing[SMALL.cell_at(1, 1)] == 7
    up, _ = step(down, TOGGLE_LOAD, STAY)
    assert up.carried[0] == 7
    assert not np.any(up.standing)


def test_actions_called_unavailable_are_those_that_do_what_staying_does():
    task = Warehouse(10)
    state, *_ = recorded(10, True)
    allowed = jax.jit(jax.vmap(task.available_actions))(state)
    play = jax.jit(jax.vmap(task.step, in_axes=(None, 0, 0)))
    for action in (FORWARD, TOGGLE_LOAD):
        chosen = np.where(allowed[..., action], STAY, action)
        stayed, acted = play(KEY, state, np.zeros_like(chosen)), play(KEY, state, chosen)
        assert_equal_where(slice(None), acted, stayed)
    toggled, _ = play(KEY, state, np.full(allowed.shape[:2], TOGGLE_LOAD))
    np.testing.assert_array_equal(toggled.carried != state.carried, allowed[..., TOGGLE_LOAD])


def test_an_episode_is_cut_off_after_500_steps_and_never_ends_by_itself():
    state = eqx.tree_at(lambda state: state.time, floor((0, 0, UP), (1, 0, UP)), np.int32(498))
    later, outcome = step(state, STAY, STAY)
    assert not outcome.truncated
    _, outcome = step(later, STAY, STAY)
    assert outcome.truncated
    assert not outcome.terminated


@pytest.mark.parametrize("x64", [False, True])
def test_states_keep_their_types_in_both_precisions(x64):
    task = Warehouse(2)
    with jax.enable_x64(x64):
        state = jax.jit(task.reset)(KEY, 2)
        after, outcome = jax.jit(task.step)(KEY, state, jnp.zeros(2, jnp.int32))
        view = jax.jit(task.observe)(after)
    assert jax.tree.map(lambda values: values.dtype, after) == jax.tree.map(
        lambda values: values.dtype, state
    )
    assert view.dtype == outcome.reward.dtype == (np.float64 if x64 else np.float32)


def test_the_global_state_is_equally_wide_for_every_team_and_tells_what_is_where():
    state = floor((4, 18, DOWN), (0, 0, UP), carried=[7, NOTHING], requests=[30, 7])
    vector = np.asarray(Warehouse(2).global_state(state))
    assert vector.shape == Warehouse(10).global_state(Warehouse(10).reset(KEY, 10)).shape == (250,)
    assert vector[:9].tolist() == [1, 4, 18, 1, 1, 0, 1, 0, 0]
    assert vector[9:18].tolist() == [1, 0, 0, 0, 0, 1, 0, 0, 0]
    assert not np.any(vector[18:])


def test_pictures_show_the_robots_the_range_and_the_requests():
    task, generator = Warehouse(10), np.random.default_rng(0)
    state = CASE.scenarios["conveyor"](generator, task)
    plain, ranged = task.draw(state), task.draw(state, show_range=True)
    fewer = task.draw(eqx.tree_at(lambda state: state.team_size, state, np.int32(9)))
    assert plain.shape == (480, 248, 3)
    assert plain.dtype == np.uint8
    assert np.any(plain != ranged)
    assert np.any(plain != fewer)
