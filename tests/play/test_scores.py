"""Scores: the same whatever the width or the batch, and every number of them in the table."""

import csv

import numpy as np
import pytest

from pc3d.evaluation.table import Player, as_csv, score_rows
from pc3d.experiment.rosters import Rosters
from pc3d.play import scores
from pc3d.play.actor_team import ActorTeam
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import SizeScores, returns_by_size, score
from tests.evaluation.policies import small_policy


@pytest.fixture(scope="module")
def arena():
    return CompiledArena(small_policy().task)


@pytest.fixture(scope="module")
def team():
    return ActorTeam(small_policy().actor)


def test_a_wider_world_changes_no_return(arena, team):
    narrow, wide = (score(arena.with_slots(slots), team, 3, 4) for slots in (3, 5))
    np.testing.assert_allclose(narrow.returns, wide.returns, rtol=1e-5)


def test_batches_play_the_rollouts_that_one_batch_would(arena, team, monkeypatch):
    narrow = arena.with_slots(3)
    whole = score(narrow, team, 2, 4)
    monkeypatch.setattr(scores, "MOST_AT_ONCE", 2)
    parts = score(narrow, team, 2, 3)
    np.testing.assert_allclose(parts.returns, whole.returns[:3], rtol=1e-5)


def test_sampled_and_greedy_actions_differ(arena, team):
    teams = (team, ActorTeam(team.actor, greedy=True))
    sampled, greedy = (returns_by_size(arena, each, (2, 3), 4) for each in teams)
    assert np.all(sampled[3] != greedy[3])


def test_the_table_gives_back_every_number_and_names_the_split():
    played = SizeScores(np.float32([-0.1, 2]), {"deliveries": np.float32([1 / 3, 2])})
    rows = score_rows(Player("rware", "pc3d", 7), Rosters(train=(2,), test=(9,)), 9, played)
    lines = list(csv.DictReader(as_csv(rows, ("deliveries",)).decode().splitlines()))
    assert [line["split"] for line in lines] == ["test", "test"]
    assert [line["rollout"] for line in lines] == ["0", "1"]
    assert lines[0]["seed"] == "7"
    assert np.float32(lines[0]["return"]) == np.float32(-0.1)
    assert np.float32(lines[0]["deliveries"]) == np.float32(1 / 3)
