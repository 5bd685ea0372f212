"""`pc3d evaluate` of a policy with a coach: what it needs, how much is said, and what is left without."""

import csv

import numpy as np
import pytest

from pc3d import cli
from pc3d.evaluation.broadcasts import read_speaking
from tests.evaluation.policies import finished_run
from tests.evaluation.test_commands import refusal

WORDS = ("--team-sizes", "3", "--rollouts", "4")


@pytest.fixture(scope="module")
def coached(tmp_path_factory):
    return finished_run(tmp_path_factory.mktemp("runs") / "copa", method="copa").path


def test_broadcasts_are_counted_and_other_intervals_are_scored_from_the_same_starts(coached, capsys):
    assert cli.main(["evaluate", str(coached), *WORDS, "--context-rollouts", "1"]) == 0
    needed = "own history, 4 numbers from the coach every 4 steps, a central module, somebody who sees the"
    assert needed in " ".join(capsys.readouterr().out.split())
    with open(coached / "scores.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_allclose([float(row["messages"]) for row in rows], 7 / 25, rtol=1e-5)

    options = ("--coach-every", "1,4,never", "--coach-thrift", "0,1e9")
    assert cli.main(["evaluate", str(coached), *WORDS, *options]) == 0
    assert "never" in capsys.readouterr().out
    found = read_speaking(coached)
    assert (found["width"], found["trained_every"], found["rollouts"]) == (4, 4, 4)
    ways = {(one["every"], one["thrift"]): one["by_size"]["3"] for one in found["scores"]}
    told = {way: one["messages"] for way, one in ways.items()}
    once = pytest.approx(1 / 25)
    assert told == {
        **{(1, 0): 1, (4, 0): pytest.approx(7 / 25), (0, 0): 0},
        **{(1, 1e9): once, (4, 1e9): once},
    }
    np.testing.assert_allclose(ways[4, 0]["returns"], [float(row["return"]) for row in rows], rtol=1e-5)


def test_what_a_coach_cannot_be_asked_is_a_sentence(coached, tmp_path, capsys):
    silent = finished_run(tmp_path / "a-qmix", method="a-qmix").path
    assert "a-qmix have no coach" in refusal(capsys, "evaluate", silent, "--coach-every", "4")
    for steps in ("often", "0", "-1", ",", "1.5"):
        assert "steps from 1 up, or never" in refusal(capsys, "evaluate", coached, "--coach-every", steps)
    for distances in ("far", "-1", "nan", "inf"):
        told = refusal(capsys, "evaluate", coached, "--coach-thrift", distances)
        assert "distances from 0 up" in told
    for other in (("--roster", "lose-half"), ("--world", "scaled"), ("--backend", "original")):
        told = refusal(capsys, "evaluate", coached, "--coach-every", "4", *other)
        assert "with constant teams" in told
    assert "name a run" in refusal(capsys, "evaluate", "--references", "spread", "--coach-every", "1")
    assert "send no messages" in refusal(capsys, "evaluate", coached, "--links-dropped", "0.5")
