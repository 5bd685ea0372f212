"""The seams are real: an algorithm, a team and a task from outside, used by the ordinary commands."""

import json
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest

from pc3d.experiment.methods import METHODS
from pc3d.play.coached_team import CoachedTeam
from pc3d.play.conducted_team import ConductedTeam
from pc3d.play.hosted.crew import Crew, Hosting, Source
from pc3d.play.hosted.worlds import CrewWorlds
from pc3d.play.loop import play, play_on_host
from pc3d.play.talking_team import TalkingTeam
from pc3d.play.worlds import TaskWorlds
from pc3d.tasks.described import DescribedTask
from pc3d.tasks.spread.world import Spread
from tests.play.hosted.tiny import PATH, own_world
from tests.runs.runs import digests
from tests.seams.messengers import Messengers

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SEARCH = (
    *("--episodes", "64", "--checkpoint-every", "8", "--evaluate-every", "32", "--tensorboard", "False"),
    *("--actor.widths", "8", "--actor.rnn-dim", "4", "--recipe.environments", "1"),
    # One stage, so that one program is compiled.
    *("--curriculum.stages.0.fraction", "0.997", "--curriculum.stages.1.fraction", "0.001"),
    *("--curriculum.stages.2.fraction", "0.001", "--curriculum.stages.3.fraction", "0.001"),
    *("--search.reach", "0.5", "--search.remembered", "24"),
)


def pc3d(*words: str, extension: str) -> list[str]:
    return [sys.executable, "-m", "pc3d", "--with", f"tests.seams.{extension}", *words]


def done(*words: str, extension: str) -> str:
    finished = subprocess.run(
        pc3d(*words, extension=extension), cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_files_are_as_short_as_the_seams_promise():
    lines = {name: (HERE / f"{name}.py").read_text().splitlines() for name in ("random_search", "messengers")}
    code = {name: [line for line in those if line.strip()] for name, those in lines.items()}
    assert len(code["random_search"]) <= 60
    assert len(code["messengers"]) <= 40


@pytest.fixture(scope="module")
def studied(tmp_path_factory) -> Path:
    """A study of the second algorithm, which trains, evaluates and reports it."""
    folder = tmp_path_factory.mktemp("studied")
    study = folder / "study.toml"
    study.write_text(
        'about = "Search."\nrollouts = 2\n[[groups]]\ntasks = ["spread"]\nmethods = ["search"]\n'
        f'seeds = [0]\noptions = ["{" ".join(SEARCH)}"]\n'
    )
    done("study", str(study), "--folder", str(folder / "runs"), extension="random_search")
    return folder / "runs"


def test_a_second_algorithm_is_trained_evaluated_studied_and_reported(studied):
    run = studied / "spread" / "search" / "seed-0"
    assert (run / "scores.csv").exists()
    assert "Random search" in (studied / "report" / "tables" / "main-spread.md").read_text()
    told = json.loads((run / "experiment.json").read_text())["experiment"]["algorithm"]
    assert told == {"name": "search", "reach": 0.5, "episodes": 4, "remembered": 24}
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["best"] >= lines[0]["best"]
    assert {"best", "returned"} <= lines[0].keys()


def test_a_second_algorithm_with_a_replay_is_killed_and_continues_to_the_same_bits(studied, tmp_path):
    whole = studied / "spread" / "search" / "seed-0"
    assert len(list((whole / "replay").glob("*.safetensors"))) >= 24 // 4
    words = ("train", "spread", "search", *SEARCH, "--folder", str(tmp_path / "run"))
    process = subprocess.Popen(
        pc3d(*words, extension="random_search"),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not list((tmp_path / "run" / "checkpoint").glob("*.safetensors")):
        time.sleep(0.001)
    process.kill()
    process.wait()
    done(*words, extension="random_search")
    assert digests(tmp_path / "run") == digests(whole)


def test_a_name_that_pc3d_has_is_not_replaced(tmp_path):
    code = "from pc3d.experiment.methods import METHODS as OURS\nMETHODS = {'pc3d': OURS['mappo']}\n"
    (tmp_path / "greedy.py").write_text(code)
    words = [sys.executable, "-m", "pc3d", "--with", "greedy", "methods"]
    told = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert "choose another name" in told.stderr


def test_a_team_that_sends_messages_plays_in_compiled_worlds_and_on_the_host_alike():
    task = Spread(4)
    team, keys, sizes = (
        Messengers(task.action_count),
        jax.random.split(jax.random.key(0), 3),
        np.array([1, 2, 4]),
    )
    compiled = jax.jit(lambda keys: play(TaskWorlds(task), team, keys, sizes))(keys)
    on_host = play_on_host(TaskWorlds(task), team, keys, sizes)
    np.testing.assert_array_equal(compiled.actions, on_host.actions)
    np.testing.assert_allclose(compiled.rewards, on_host.rewards, atol=1e-5)
    alone = play(TaskWorlds(Spread(1)), team, keys[:1], sizes[:1])
    np.testing.assert_array_equal(alone.actions[0, :, 0], compiled.actions[0, :, 0])


def test_a_team_that_sends_messages_plays_in_worlds_of_python_objects():
    game = DescribedTask(**vars(own_world()), slots=3, name=PATH)
    team, keys = Messengers(game.action_count), jax.random.split(jax.random.key(1), 2)
    with Crew(Source("own", PATH), Hosting(1)) as crew:
        episodes = play_on_host(CrewWorlds(crew, game), team, keys, np.array([2, 3]))
    assert episodes.played.all()
    assert set(np.unique(episodes.actions[1])) <= {0, 1, 2}


def test_what_a_team_needs_at_execution_is_part_of_its_type():
    assert Messengers.execution.messages
    assert not Messengers.execution.decentralized
    talking = [name for name, method in METHODS.items() if method.execution.messages]
    assert talking == ["graph", "sog", "copa"]
    assert METHODS["graph"].execution is TalkingTeam.execution
    assert METHODS["sog"].execution is ConductedTeam.execution
    assert METHODS["copa"].execution is CoachedTeam.execution
    assert METHODS["copa"].execution.privileged


def test_a_task_in_a_folder_is_known_by_one_line(tmp_path):
    run = str(tmp_path / "run")
    words = ("train", "probe", "pc3d", "--folder", run, "--tensorboard", "False")
    assert "finished 32 episodes" in done(*words, extension="probe_line")
    done("report", run, "--evaluate", "--out", str(tmp_path / "report"), extension="probe_line")
    assert "Probe" in (tmp_path / "report" / "report.md").read_text()
