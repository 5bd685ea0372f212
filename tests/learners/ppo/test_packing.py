"""Pieces without empty slots: nobody is lost or doubled, and their gradients add up to the padded one."""

from functools import partial
from itertools import chain

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners.ppo import packing
from pc3d.learners.ppo.descent import minibatch_gradient
from pc3d.learners.ppo.packing import PieceShape, pack, piece_of
from pc3d.learners.ppo.sequences import SequencePlan
from pc3d.networks.seating import NOBODY, Seating
from tests.learners.ppo.padded import objective
from tests.learners.ppo.test_objective import played, prepared
from tests.small import PPO_METHODS, one_of_each_kind, random_team, small_experiment

SLOTS = 5


def there(*sizes):
    return jnp.arange(SLOTS) < jnp.asarray(sizes)[:, None]


def packed(sizes, rows, teams, numbers=None):
    numbers = jnp.arange(len(sizes)) if numbers is None else jnp.asarray(numbers)
    return jax.device_get(pack(PieceShape(teams, (rows,), single=False), there(*sizes), numbers))


def rosters_of(found):
    """Of each piece: its rows as (sequence, agent), filled ones only."""
    return [[divmod(int(row), SLOTS) for row in rows if row != NOBODY] for rows in found.rows]


@pytest.mark.parametrize("seed", range(5))
def test_every_agent_of_a_minibatch_has_one_row_beside_its_teammates(seed):
    sizes = np.random.default_rng(seed).integers(1, SLOTS + 1, size=20)
    found = packed(sizes, rows=8, teams=3)
    pieces = rosters_of(found)
    assert sorted(chain(*pieces)) == [(team, agent) for team in range(20) for agent in range(sizes[team])]
    for team in range(20):
        assert sum(any(row[0] == team for row in rows) for rows in pieces) == 1
    assert all(pieces[: found.count])
    assert not any(pieces[found.count :])


@pytest.mark.parametrize("seed", range(5))
def test_a_seat_leads_to_its_agents_row_and_a_row_to_its_seat(seed):
    sizes = np.random.default_rng(seed).integers(1, SLOTS + 1, size=12)
    found = packed(sizes, rows=10, teams=4)
    for piece in range(int(found.count)):
        for place, team in enumerate(found.teams[piece]):
            for agent in range(sizes[team] if team >= 0 else 0):
                row = found.seats[piece, place, agent]
                assert found.rows[piece, row] == team * SLOTS + agent
                assert found.places[piece, row] == place * SLOTS + agent
        assert np.array_equal(found.places[piece] == NOBODY, found.rows[piece] == NOBODY)


def test_the_largest_teams_come_first_and_small_ones_fill_what_they_leave():
    found = packed([2, 5, 3, 4, 1], rows=8, teams=3)
    assert int(found.count) == 2
    assert [sorted({team for team, _ in rows}) for rows in rosters_of(found)[:2]] == [[1, 2], [0, 3, 4]]


def test_a_piece_takes_no_more_teams_than_it_has_places_for():
    found = packed([1, 1, 1, 1, 1], rows=5, teams=2)
    assert [len(rows) for rows in rosters_of(found)] == [2, 2, 1, 0, 0]


def test_fillers_and_sequences_of_other_minibatches_take_no_row():
    found = packed([2, 5, 3], rows=10, teams=3, numbers=[2, -1])
    assert rosters_of(found) == [[(2, 0), (2, 1), (2, 2)], []]
    assert int(found.count) == 1


def test_a_slot_in_the_middle_may_be_empty():
    roster = jnp.array([[True, False, True, False, False]])
    found = jax.device_get(pack(PieceShape(1, (5,), single=True), roster, jnp.arange(1)))
    assert rosters_of(found) == [[(0, 0), (0, 2)]]


@pytest.mark.parametrize(
    ("sequences", "slots", "length", "usual", "expected"),
    [
        (64, 8, 25, 4.5, PieceShape(9, (32,), single=False)),
        (64, 8, 25, 5.78, PieceShape(7, (32,), single=False)),
        (1, 8, 63, 6.9, PieceShape(1, (2, 4, 6, 8), single=True)),
        (1, 3, 63, 3.0, PieceShape(1, (1, 2, 3), single=True)),
        (4, 128, 50, 64.5, PieceShape(3, (128,), single=False)),  # a team is never cut
    ],
)
def test_pieces_hold_whole_teams_of_about_so_many_steps(sequences, slots, length, usual, expected):
    plan = SequencePlan(sequences, length, 1, length, 1, sequences)
    assert PieceShape.make(plan, slots, usual) == expected


def test_the_way_back_from_a_seat_is_what_the_automatic_derivative_finds():
    seating = Seating(jnp.array([[2, 0, 0], [1, 3, 0]]), jnp.array([1, 3, 0, 4, NOBODY]))
    taken, rows = jnp.array([[True, True, False], [True, True, False]]), random_team(0, 4, 5, 2)

    def seen(seated):
        return jnp.sum(jnp.where(taken[..., None], jnp.sin(seated), 0) ** 2)

    found = jax.grad(lambda rows: seen(seating.of_teams(rows)))(rows)
    np.testing.assert_allclose(found, jax.grad(lambda rows: seen(rows[:, seating.seats]))(rows), atol=1e-6)


@partial(jax.jit, static_argnums=(0, 3))
def gradient_in_pieces(experiment, networks, batch, shape):
    numbers = jnp.arange(len(batch.played))
    found = pack(shape, jnp.any(batch.present, axis=1), numbers)
    return minibatch_gradient(experiment, networks, batch, found, shape)


@partial(jax.jit, static_argnums=0)
def gradient_of_the_whole(experiment, networks, batch):
    return jax.grad(lambda networks: objective(networks, batch, experiment).total)(networks)


def assert_same_gradient(experiment, batch, networks, shape):
    found, parts = gradient_in_pieces(experiment, networks, batch, shape)
    expected = gradient_of_the_whole(experiment, networks, batch)
    largest = max(float(jnp.max(jnp.abs(leaf))) for leaf in jax.tree.leaves(expected))
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-6 * largest)
    whole = objective(networks, batch, experiment)
    for one, other in zip(jax.tree.leaves(parts), jax.tree.leaves(whole), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


PIECES = [PieceShape(1, (5,), single=False), PieceShape(3, (6,), single=False)]
AT_ONCE = PieceShape(3, (6, 9, 15), single=True)


@pytest.mark.parametrize("shape", [*PIECES, AT_ONCE], ids=["team by team", "two pieces", "at once"])
@pytest.mark.parametrize("method", one_of_each_kind(["ippo", "mappo", "pic", "pc3d"]))
def test_gradients_of_pieces_add_up_to_that_of_the_padded_minibatch(method, shape):
    experiment = small_experiment(method)
    learner, episodes = played(experiment)
    assert_same_gradient(experiment, prepared(experiment, learner, episodes), learner.networks, shape)


@pytest.mark.parametrize(
    "method", one_of_each_kind(sorted(set(PPO_METHODS) - {"ippo", "mappo", "pic", "pc3d"}))
)
def test_so_do_those_of_every_variant(method):
    experiment = small_experiment(method)
    learner, episodes = played(experiment)
    assert_same_gradient(experiment, prepared(experiment, learner, episodes), learner.networks, PIECES[1])


@pytest.mark.slow  # compiles a program for each of four numbers of rows
def test_only_as_many_rows_are_computed_as_are_filled():
    experiment = small_experiment("pc3d")
    learner, episodes = played(experiment)
    batch = prepared(experiment, learner, episodes)
    found = pack(AT_ONCE, jnp.any(batch.present, axis=1), jnp.array([0, 1, -1]))  # teams of 1 and 3
    assert piece_of(batch, found, jnp.zeros((), int), 6).observations.shape == (25, 6, 16)
    cut = minibatch_gradient(experiment, learner.networks, batch, found, AT_ONCE)[0]
    full = minibatch_gradient(experiment, learner.networks, batch, found, PieceShape(3, (15,), single=True))[
        0
    ]
    for one, other in zip(jax.tree.leaves(cut), jax.tree.leaves(full), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_the_number_of_steps_in_a_piece_is_at_most_what_was_measured_to_be_fast():
    plan = SequencePlan(64, 25, 1, 25, 1, 64)
    for slots in (1, 2, 4, 6, 8, 10):
        assert PieceShape.make(plan, slots, slots / 2).rows[-1] * 25 <= packing.ROW_STEPS
