"""Parity finds no difference where there is none, and does find one that we make."""

from dataclasses import replace
from itertools import product

import equinox as eqx
import jax.numpy as jnp
import pytest

from pc3d.system.errors import BadInput
from pc3d.tasks.parity.case import ParityCase
from pc3d.tasks.parity.compare import KINDS, compare
from pc3d.tasks.parity.record import start_name
from pc3d.tasks.registry import TASKS, entry_of
from pc3d.tasks.spread.world import Spread

SPREAD = entry_of("spread").parity.load()
ALL_STARTS = 2 + len(SPREAD.scenarios)
# Each task once; both kinds of world.
QUICK = {(16, "spread", "scaled"), (16, "lbf", "scaled"), (16, "rware", "crowded")}


def spread_with_a_wrong(change):
    """The case, with the port's step followed by a deliberate mistake."""

    class Wrong(Spread):
        def step(self, key, state, actions):
            return change(*super().step(key, state, actions))

    return replace(SPREAD, task=Wrong())


@pytest.mark.parametrize("team_size", [1, 2, 8, 10])
def test_spread_is_the_original_game(team_size):
    tally = compare(SPREAD, SPREAD.opponents[0], team_size, episodes=ALL_STARTS, seed=1)
    assert tally.first_mismatch is None
    assert tally.steps == 25 * ALL_STARTS
    assert tally.largest_error["float64"] < 1e-9
    assert tally.left_out["float64"] == 0


@pytest.mark.parametrize(
    ("team_size", "name", "world"),
    [
        pytest.param(*each, marks=[] if each in QUICK else pytest.mark.slow)
        for each in product((16, 32), sorted(TASKS), ("crowded", "scaled"))
    ],
)
def test_large_teams_play_the_original_game(team_size, name, world):
    """From each kind of start; `pc3d parity --team-sizes 16,32` compares more of them."""
    case = entry_of(name).parity.load().in_world(world)
    for opponent in case.opponents[-1:] if team_size == 16 else case.opponents:
        tally = compare(case, opponent, team_size, episodes=2 + len(case.scenarios), seed=3)
        assert tally.first_mismatch is None
        assert tally.steps > 25
        assert tally.left_out["float64"] <= tally.steps / 2


def test_every_task_has_a_case():
    for entry in TASKS.values():
        assert isinstance(entry.parity.load(), ParityCase)
    with pytest.raises(BadInput, match="perhaps you meant spread"):
        entry_of("sprad")


MISTAKES = {
    "state": lambda state, outcome: (
        eqx.tree_at(lambda state: state.positions, state, state.positions.at[1, 0].add(2e-5)),
        outcome,
    ),
    "reward": lambda state, outcome: (
        state,
        eqx.tree_at(lambda outcome: outcome.reward, outcome, outcome.reward + 1e-4),
    ),
    "end": lambda state, outcome: (
        state,
        eqx.tree_at(lambda outcome: outcome.truncated, outcome, state.time >= 24),
    ),
    "measures": lambda state, outcome: (
        state,
        eqx.tree_at(lambda outcome: outcome.measures["colliding_pairs"], outcome, jnp.asarray(jnp.nan)),
    ),
}


@pytest.mark.parametrize("kind", sorted(MISTAKES))
def test_a_mistake_of_each_kind_is_found_and_described(kind):
    case = spread_with_a_wrong(MISTAKES[kind])
    tally = compare(case, case.opponents[0], 2, episodes=1, seed=0)
    steps = 2 if kind == "end" else 50  # in both precisions; the wrong limit shows in one step of 25
    assert {name: tally.mismatches[name] for name in KINDS} == dict.fromkeys(KINDS, 0) | {kind: steps}
    assert f"float64: {kind}" in tally.first_mismatch
    assert "in the port and" in tally.first_mismatch


def test_a_wrong_observation_is_found(monkeypatch):
    observe = type(SPREAD.task).observe
    monkeypatch.setattr(
        type(SPREAD.task), "observe", lambda task, state: observe(task, state).at[0, 4].add(1e-4)
    )
    tally = compare(SPREAD, SPREAD.opponents[0], 2, episodes=1, seed=0)
    assert tally.mismatches["observation"] == 50
    assert tally.mismatches.total() == 50


def test_all_kinds_of_start_take_turns():
    names = {start_name(SPREAD, episode) for episode in range(ALL_STARTS)}
    assert names >= set(SPREAD.scenarios)
    assert len(names) == ALL_STARTS
