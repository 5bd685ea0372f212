"""The PettingZoo view keeps PettingZoo's promises."""

import warnings
from functools import partial

import jax
import numpy as np
import pytest
from gymnasium.spaces import Box

from pc3d.experiment.named_rosters import roster_named
from pc3d.experiment.roster_process import Event, Schedule
from pc3d.system.errors import BadInput
from pc3d.tasks.entry import TaskEntry
from pc3d.tasks.pettingzoo import lives, open_team_env, parallel_env
from pc3d.tasks.presence import presence
from pc3d.tasks.registry import TASKS
from tests.probes import Aim, Forbidden

with warnings.catch_warnings():
    # Its own tests import a game in a way that PettingZoo deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import parallel_api_test


@pytest.mark.parametrize("name", sorted(TASKS))
def test_every_task_passes_pettingzoos_own_test(name):
    parallel_api_test(parallel_env(name, 3), num_cycles=60)


def test_open_teams_pass_pettingzoos_own_test():
    with warnings.catch_warnings():
        # PettingZoo remarks that a small team leaves possible agents out: that is what an open team is.
        warnings.filterwarnings("ignore", "No agents present but not all possible_agents")
        parallel_api_test(open_team_env("spread", [1, 2, 4]), num_cycles=60)


def test_a_time_limit_is_a_truncation_and_the_reward_is_shared():
    environment = parallel_env("spread", 3)
    environment.reset(seed=0)
    for _ in range(25):
        actions = {name: environment.action_space(name).sample() for name in environment.agents}
        views, rewards, terminated, truncated, _ = environment.step(actions)
    assert all(truncated.values())
    assert not any(terminated.values())
    assert len(set(rewards.values())) == 1
    assert set(views) == set(environment.possible_agents)  # the last view is kept
    assert environment.agents == []


def test_open_teams_draw_their_size_for_each_episode_and_repeat_with_the_seed():
    environment = open_team_env("spread", [1, 2, 4], [0.2, 0.3, 0.5])
    sizes = [len(environment.reset()[0]) for _ in range(60)]
    assert set(sizes) == {1, 2, 4}
    first, _ = environment.reset(seed=0)
    assert len(first) == sizes[0]
    again, _ = open_team_env("spread", [1, 2, 4], [0.2, 0.3, 0.5]).reset()
    assert all(np.array_equal(first[name], again[name]) for name in first)


@pytest.mark.parametrize("team_size", [0, -1, 1001])
def test_impossible_team_sizes_are_refused(team_size):
    with pytest.raises(BadInput, match="spread is played by 1 to 1000 agents"):
        parallel_env("spread", team_size)


def test_an_agent_without_an_action_is_named():
    environment = parallel_env("spread", 2)
    environment.reset()
    with pytest.raises(BadInput, match="agent_1 got none"):
        environment.step({"agent_0": 0})


def test_the_picture_and_the_global_state_have_one_size_for_all_teams():
    widths = set()
    for size in (1, 4):
        environment = parallel_env("spread", size)
        environment.reset(seed=1)
        widths.add(environment.state().shape)
        assert environment.render().dtype == np.uint8
    assert len(widths) == 1


def test_real_numbers_and_masks_are_pettingzoos(no_task_stays_known):
    TASKS["aim"], TASKS["forbidden"] = TaskEntry("Aim", Aim), TaskEntry("Forbidden", Forbidden)
    aim, forbidden = parallel_env("aim", 2), parallel_env("forbidden", 3)
    parallel_api_test(aim, num_cycles=20)
    assert aim.action_space("agent_0") == Box(-2.0, 4.0, (1,), np.float32)
    _, infos = forbidden.reset(seed=1)
    masks = [infos[name]["action_mask"] for name in forbidden.agents]
    assert {tuple(mask) for mask in masks} == {(1, 1, 0), (1, 1, 1)}
    actions = {name: forbidden.action_space(name).sample(infos[name]["action_mask"]) for name in infos}
    _, rewards, _, _, infos = forbidden.step(actions)
    assert min(rewards.values()) >= 0
    assert [infos[name]["action_mask"].tolist() for name in infos] == [mask.tolist() for mask in masks]


def played(environment, seed):
    """Every step's answer, and who was there before it; actions are all 0."""
    environment.reset(seed=seed)
    while environment.agents:
        team = list(environment.agents)
        yield team, environment.step(dict.fromkeys(team, 0))


def test_a_team_that_changes_passes_pettingzoos_own_test():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No agents present but not all possible_agents")
        parallel_api_test(open_team_env("spread", [2, 4], roster="churn-fast:largest=5"), num_cycles=60)


def test_who_leaves_is_told_once_and_who_joins_has_a_name_of_its_own():
    leave_then_join = Schedule((Event(2, leave=1), Event(4, leave=1, join=1), Event(6, join=1)))
    environment = parallel_env("spread", 3, roster=leave_then_join, horizon=8)
    assert len(environment.possible_agents) == 3 * environment.task.slots  # the start, and two who join
    assert roster_named("replace-half").most_lives(8) == 1  # nobody takes a slot that was just left
    gone, teams = set(), []
    for team, (views, rewards, terminated, truncated, infos) in played(environment, seed=3):
        teams.append(team)
        assert not gone & set(team)
        newcomers = set(environment.agents) - set(team)
        assert set(views) == set(rewards) == set(truncated) == set(infos) == {*team, *newcomers}
        left = {name for name, cut in truncated.items() if cut}
        assert left == set(team) - set(environment.agents)
        assert all(rewards[name] == 0 for name in newcomers)
        assert all(np.any(view != 0) for view in views.values())  # who leaves, too, sees what came of it
        assert not any(terminated.values())
        gone |= left
    assert [len(team) for team in teams] == [3, 3, 2, 2, 2, 2, 3, 3]
    names = set().union(*teams)
    assert len(names) == 5
    assert any(name.endswith("_1") for name in names)  # a slot was taken anew
    assert names <= set(environment.possible_agents)


@pytest.mark.parametrize("name", ["churn-fast", "gpl-lbf", "churn:minimum_stay=0.1,leave=9"])
def test_no_slot_has_more_lives_than_its_process_says(name):
    process, horizon = roster_named(name), 60
    slots = process.limits(4, 2).slots
    keys = jax.random.split(jax.random.key(1), 40)
    one = partial(presence, process, team_size=4, slots=slots, horizon=horizon, fewest=2)
    most = max(lives(present).max() for present in np.asarray(jax.jit(jax.vmap(one))(keys)))
    assert 0 < most < process.most_lives(horizon) <= horizon // 2 + 1


def test_a_roster_that_does_not_fit_is_refused():
    with pytest.raises(BadInput, match="would empty a team of 1"):
        open_team_env("spread", [1, 3], roster="lose-one")
