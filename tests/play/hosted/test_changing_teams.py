"""A PettingZoo task whose agents leave and join: presence in time, memories, and what is learned from it."""

import csv
from typing import ClassVar

import jax
import numpy as np
import pytest

from pc3d.cli import main
from pc3d.experiment.execution import ALONE, Execution
from pc3d.experiment.world import OwnWorld
from pc3d.play.hosted.crew import Crew, Hosting, Source, WorldFailed
from pc3d.play.hosted.worlds import CrewWorlds
from pc3d.play.loop import play_on_host
from pc3d.play.team import Decision
from pc3d.tasks.described import DescribedTask
from tests.docs.pages import blocks
from tests.play.hosted.sample_task import STEPS
from tests.play.hosted.test_own_task_page import EXAMPLE, ROOT
from tests.play.hosted.tiny import TINY

HERE = "tests.play.hosted.sample_task"
KEYS = jax.random.split(jax.random.key(3), 2)
PAGE = ROOT / "docs" / "changing_teams.md"


class Counting:
    """Remembers how often it has decided, from nothing for whoever has just joined."""

    execution: ClassVar[Execution] = ALONE

    def __init__(self):
        self.counts = []

    def first(self, episodes, slots):
        return np.zeros((episodes, slots))

    def step(self, memory, view, chances):
        memory = np.where(view.joined, 0, memory) if view.joined is not None else memory
        self.counts.append(memory)
        return memory + 1, Decision(np.full(view.present.shape, 2, np.int32))


def game(name, *, changes=True, spare=1):
    world = OwnWorld(
        "host", STEPS, (2,), ("a", "b", "c"), "its own", roster_changes=changes, spare_slots=spare
    )
    return DescribedTask(**vars(world), slots=3 + spare, name=name)


@pytest.mark.parametrize("workers", [1, 2])
def test_presence_says_who_is_there_and_who_takes_a_slot_anew_remembers_nothing(workers):
    team = Counting()
    with Crew(Source("own", f"{HERE}:Relay"), Hosting(workers)) as crew:
        played = play_on_host(CrewWorlds(crew, game("relay")), team, KEYS, np.array([2, 3]))
    expected = [
        # After 2 steps somebody joins, after 3 the first one leaves, after 4 its slot is taken anew.
        [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0]],
        [[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]],
    ]
    np.testing.assert_array_equal(played.present, np.array(expected, bool))
    acted, number = np.floor(np.moveaxis(played.observations, -1, 0))
    counts, present = np.stack(team.counts, axis=1), played.present[:, :-1]
    np.testing.assert_array_equal(counts[present], acted[:, :-1][present])
    np.testing.assert_array_equal(number[:, 5, 0], [2, 2])  # late_2 has the slot of agent_0
    np.testing.assert_array_equal(played.observations[~played.present], 0)
    np.testing.assert_array_equal(played.total_reward, [STEPS, STEPS])  # the mean of those who acted


def test_a_change_that_nobody_knew_of_is_a_sentence():
    with Crew(Source("own", f"{HERE}:Surprising")) as crew:
        worlds = CrewWorlds(crew, game("surprising", changes=False, spare=0))
        with pytest.raises(WorldFailed, match="nobody did when it was looked at: give the environment the"):
            play_on_host(worlds, Counting(), KEYS, np.array([2, 3]))


def test_the_example_on_the_page_is_trained_and_scored_by_its_lines(tmp_path, monkeypatch, capsys):
    (lines,) = [block for block in blocks(PAGE, "sh") if "shifts:Shifts" in block]
    monkeypatch.chdir(EXAMPLE)
    check, train, evaluate = [line.split("#")[0].split()[1:] for line in lines.splitlines()]
    assert main(check) == 0
    assert "the team may change while it plays: worker_" in capsys.readouterr().out.replace("\n", " ")
    folder = tmp_path / "run"
    at = train.index("--episodes")
    assert main([*train[:at], *train[at + 2 :], *TINY, "--folder", str(folder)]) == 0
    assert main(["evaluate", str(folder), *evaluate[2:], "--rollouts", "2", "--context-rollouts", "1"]) == 0
    with open(folder / "scores.csv", newline="") as file:
        assert {row["team_size"] for row in csv.DictReader(file)} == {"2", "3", "4"}
