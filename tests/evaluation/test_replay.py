"""Replays: small, in integers, and the episode that was played."""

import json
from dataclasses import replace

import equinox as eqx
import numpy as np
import pytest

from pc3d.evaluation.film import caption
from pc3d.evaluation.replay import replay
from pc3d.tasks.warehouse.floor import COLUMNS, ROWS, floor_of
from tests.evaluation.policies import recorded, small_policy

MOST_BYTES = {"spread": 20_000, "lbf": 20_000, "rware": 220_000}  # packed, a sixth of it


@pytest.mark.parametrize("task", MOST_BYTES)
def test_a_replay_is_small_json_with_one_entry_per_moment(task):
    policy = small_policy(task)
    size = policy.task.largest_team
    episode = recorded(task, size)
    text = json.dumps(replay(policy, episode, 0), separators=(",", ":"), allow_nan=False)
    assert len(text) < MOST_BYTES[task]
    document = json.loads(text)
    steps = len(document["reward"])
    assert len(document["world"]["positions"]) == steps + 1
    assert np.shape(document["world"]["positions"][0]) == (size, 2)
    assert np.shape(document["gate"]) == np.shape(document["alignment"]) == (steps, size)
    assert 0 <= np.min(document["gate"]) <= np.max(document["gate"]) <= 100
    assert document["split"] == "test"
    total = policy.task.reported_return(sum(document["reward"]), size)
    assert float(total) == pytest.approx(document["return"], abs=0.02)


def test_spread_is_in_thousandths_and_without_empty_slots():
    episode = recorded("spread", 2)
    document = replay(small_policy("spread"), episode, 5)
    assert document["rollout"] == 5
    assert len(document["world"]["landmarks"]) == 2
    x = document["world"]["positions"][3][1][0]
    assert isinstance(x, int)
    assert x == pytest.approx(1000 * float(episode.states.positions[3, 1, 0]), abs=0.5)


def test_food_disappears_from_the_mask_when_it_is_eaten():
    episode = recorded("lbf", 4)
    levels = np.array(episode.states.food_levels)
    levels[10:, 1] = 0
    eaten = eqx.tree_at(lambda one: one.states.food_levels, episode, levels)
    world = replay(small_policy("lbf"), eaten, 0)["world"]
    assert len(world["foods"]) == 3
    assert world["food_left"][9] == 0b111
    assert world["food_left"][10] == 0b101


def test_shelves_that_are_put_down_are_listed_with_their_new_place():
    episode = recorded("rware", 2)
    standing = np.tile(floor_of(1).all_stored, (len(episode.rewards) + 1, 1))
    old, new = floor_of(1).cell_at(1, 1), floor_of(1).cell_at(2, 1)
    shelf, other = floor_of(1).all_stored[old], floor_of(1).all_stored[new]
    standing[5:, old] = 0
    standing[7:, new] = 0
    standing[9:, new] = shelf
    moved = eqx.tree_at(lambda one: one.states.standing, episode, standing)
    world = replay(small_policy("rware"), moved, 0)["world"]
    assert other != shelf
    assert world["moves"] == [[9, shelf - 1, 2, 1]]
    assert world["shelves"][shelf - 1] == [1, 1]
    assert world["goals"] == [[4, 19], [5, 19]]
    assert len(world["highway"]) == ROWS * COLUMNS
    assert world["highway"][:20] == "1111111111" + "1001001001"


def test_who_is_there_is_told_only_where_somebody_comes_or_goes():
    episode, policy = recorded("spread", 2), small_policy("spread")
    assert "present" not in replay(policy, episode, 0)
    present = np.ones((len(episode.rewards) + 1, 2), bool)
    present[:3, 1] = False  # the second one joins later: such a team has one more agent than its size says
    document = replay(policy, replace(episode, team_size=1, present=present), 0)
    assert document["present"][:4] == [[1, 0], [1, 0], [1, 0], [1, 1]]
    assert len(document["present"]) == len(document["world"]["positions"])
    assert np.shape(document["world"]["positions"][0]) == (2, 2)


def test_the_sizes_of_unlike_agents_are_told():
    episode, policy = recorded("spread", 2), small_policy("spread")
    assert "sizes" not in replay(policy, episode, 0)["world"]
    able = np.tile([[0.3, 5, 4, 1], [0.05, 5, 4, 1]], (len(episode.rewards) + 1, 1, 1))
    unlike = eqx.tree_at(
        lambda one: one.states.capabilities, episode, able, is_leaf=lambda part: part is None
    )
    assert replay(policy, unlike, 0)["world"]["sizes"] == [300, 50]


@pytest.mark.parametrize("task", ["spread", "lbf"])
def test_the_caption_of_a_films_last_picture_is_the_return(task):
    episode, game = recorded(task, 2), small_policy(task).task
    assert f"return {float(episode.returns):.2f}" in caption(game, episode, len(episode.rewards))
    rewarded = replace(episode, rewards=np.full(len(episode.rewards), 2.0))
    assert f"return {float(game.reported_return(6.0, 2)):.2f}" in caption(game, rewarded, 3)
