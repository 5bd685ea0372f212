"""The references: exact where they can be, and as good as they claim."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from pc3d.evaluation.references import reference_teams
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import score
from pc3d.tasks.registry import TASKS, entry_of
from pc3d.tasks.spread.script import cover
from pc3d.tasks.spread.world import DIRECTIONS, Spread
from pc3d.tasks.warehouse.floor import DOWN, LEFT, UP, floor_of
from pc3d.tasks.warehouse.script import _Plan, steps_to

CANNOT_CARRY = np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1]], float)  # the second one


def widest(name):
    entry = entry_of(name)
    return entry.make(entry.task_class.largest_team)


def test_the_way_with_a_shelf_leads_over_highways():
    floor = floor_of(1)
    goal, storage, far = floor.goals[0], floor.cell_at(1, 1), floor.cell_at(8, 1)
    assert steps_to(floor, goal, False)[floor.cell_at(4, 16), DOWN] == 3
    assert steps_to(floor, goal, False)[floor.cell_at(4, 16), UP] == 5  # two turns first
    empty, loaded = steps_to(floor, floor.cell_at(2, 1), False), steps_to(floor, far, True)
    assert empty[storage, LEFT] == 3
    assert loaded[storage, LEFT] > steps_to(floor, far, False)[storage, LEFT]


def test_every_task_has_three_references():
    for name in TASKS:
        assert set(reference_teams(widest(name))) == {"random", "noop", "scripted"}, name


def test_the_spread_script_is_far_better_than_standing_still_or_chance():
    task = Spread(3)
    means = {
        name: score(CompiledArena(task), team, 3, 4).returns.mean()
        for name, team in reference_teams(task).items()
    }
    assert -20 < means["scripted"] < -5
    assert means["noop"] < -30
    assert means["random"] < -30


@pytest.mark.parametrize(("task", "size", "least"), [("lbf", 3, 0.3), ("rware", 5, 45)])
def test_the_script_solves_the_task(task, size, least):
    """At least 90 % of all food; at least nine deliveries per robot, of the eleven one alone can do."""
    game = entry_of(task).make(size)
    team, rollouts = reference_teams(game)["scripted"], 2 if task == "rware" else 4
    assert score(CompiledArena(game), team, size, rollouts).returns.mean() >= least


@pytest.mark.parametrize("task", TASKS)
def test_scripts_act_for_everybody_with_actions_there_are(task):
    game = widest(task)
    state = jax.device_get(game.reset(jax.random.key(0), game.slots))
    actions = entry_of(task).script.load()(game, state)
    assert actions.shape == (game.slots,)
    assert np.all((actions >= 0) & (actions < game.action_count))


def test_agents_on_one_landmark_do_not_both_stay():
    state = jax.device_get(Spread(2).reset(jax.random.key(0), 2))
    state = type(state)(
        state.team_size,
        state.time,
        np.float32([[0, 0], [0.1, 0]]),
        0 * state.velocities,
        np.float32([[0, 0], [0.05, 0]]),
    )
    assert set(cover(Spread(2), state)) != {0}


def sides(actions):
    """Who goes to the left (-1), to the right (1) or neither."""
    return [int(way[0]) for way in DIRECTIONS[actions]]


def test_the_spread_script_sends_the_quick_a_longer_way():
    task = Spread(2)
    state = jax.device_get(task.reset(jax.random.key(0), 2))
    usual = replace(
        state,
        positions=np.array([[0.0, 0.0], [0.1, 0.4]]),
        velocities=np.zeros((2, 2)),
        landmarks=np.array([[-0.3, 0.0], [0.9, 0.4]]),
    )
    assert sides(cover(task, usual)) == [-1, 1]
    runner, snail = [0.15, 5.0, 4.0, 1.0], [0.15, 1.0, 0.2, 4.0]
    for kinds, expected in (([runner, snail], [1, -1]), ([snail, runner], [-1, 1]), ([runner] * 2, [-1, 1])):
        assert sides(cover(task, replace(usual, capabilities=np.array(kinds)))) == expected


def test_a_robot_that_cannot_carry_has_no_errand():
    task = entry_of("rware").make(3)
    state = jax.device_get(task.reset(jax.random.key(0), 3))
    plans = [_Plan(task, one) for one in (state, replace(state, capabilities=CANNOT_CARRY))]
    for plan in plans:
        plan.give_errands()
    assert set(plans[0].targets) == {0, 1, 2}
    assert set(plans[1].targets) == {0, 2}
