"""`pc3d evaluate` of a policy that sends messages: how many, what it needs, what is left without links."""

import csv

import numpy as np
import pytest

from pc3d import cli
from pc3d.evaluation.messages import read_losses
from tests.evaluation.policies import finished_run
from tests.evaluation.test_commands import refusal

WORDS = ("--team-sizes", "2-3", "--rollouts", "4")


@pytest.fixture(scope="module")
def talking(tmp_path_factory):
    return finished_run(tmp_path_factory.mktemp("runs") / "graph", method="graph").path


def scores(folder, name):
    with open(folder / "scores.csv", newline="") as file:
        return {
            size: [float(row[name]) for row in rows]
            for size, rows in grouped(csv.DictReader(file), "team_size").items()
        }


def grouped(rows, name):
    found = {}
    for row in rows:
        found.setdefault(int(row[name]), []).append(row)
    return found


def test_messages_are_counted_and_lost_links_change_returns_and_nothing_else(talking, capsys):
    assert cli.main(["evaluate", str(talking), *WORDS, "--context-rollouts", "1"]) == 0
    printed = capsys.readouterr().out
    assert "needs at execution: own history, 3 messages of 10 numbers from each teammate in sight" in printed
    assert "messages per" in printed
    # All see each other in so small a team: three rounds of one or of two teammates.
    assert scores(talking, "messages") == {2: [3.0] * 4, 3: [6.0] * 4}

    assert cli.main(["evaluate", str(talking), *WORDS, "--links-dropped", "0,0.5,1"]) == 0
    assert "0.5 dropped" in capsys.readouterr().out
    found = read_losses(talking)
    assert (found["rounds"], found["width"], found["renewal"]) == (3, 10, 0.1)
    by_share = found["by_share"]
    assert by_share["0"]["3"]["messages"] == 6
    assert 0 < by_share["0.5"]["3"]["messages"] < 6
    assert by_share["1"]["3"]["messages"] == 0
    returns = scores(talking, "return")
    np.testing.assert_allclose(by_share["0"]["3"]["returns"], returns[3], rtol=1e-6)
    assert np.abs(np.subtract(by_share["1"]["3"]["returns"], returns[3])).max() > 0.1


def test_messages_of_groups_are_counted_and_lost(tmp_path, capsys):
    folder = finished_run(tmp_path / "sog", method="sog").path
    assert cli.main(["evaluate", str(folder), *WORDS, "--context-rollouts", "1"]) == 0
    needed = "3 numbers to and from a conductor in sight every 4 steps, who is elected at random"
    assert needed in " ".join(capsys.readouterr().out.split())
    counted = scores(folder, "messages")
    assert counted[2] == [0.0] * 4  # both are elected
    assert 0 < np.mean(counted[3]) < 7 / 25 * 2
    assert cli.main(["evaluate", str(folder), *WORDS, "--links-dropped", "0,1"]) == 0
    found = read_losses(folder)
    assert (found["rounds"], found["width"]) == (1, 3)
    by_share = found["by_share"]
    assert by_share["0"]["3"]["messages"] == pytest.approx(np.mean(counted[3]))
    assert by_share["1"]["3"]["messages"] == 0


def test_what_lost_links_cannot_be_asked_of_is_a_sentence(talking, tmp_path, capsys):
    silent = finished_run(tmp_path / "mappo", method="mappo").path
    assert "mappo send no messages" in refusal(capsys, "evaluate", silent, "--links-dropped", "0.5")
    for shares in ("half", "2", ",", "nan"):
        assert "shares from 0 to 1" in refusal(capsys, "evaluate", talking, "--links-dropped", shares)
    for other in (("--roster", "lose-half"), ("--world", "scaled")):
        told = refusal(capsys, "evaluate", talking, "--links-dropped", "1", *other)
        assert "with constant teams" in told
    assert "name a run" in refusal(capsys, "evaluate", "--references", "spread", "--links-dropped", "1")
