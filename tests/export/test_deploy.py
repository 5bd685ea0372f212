"""Robots in processes of their own: they act as evaluation says, need nothing of ours, and end with us."""

import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pc3d.export.runtime import OnnxActor
from pc3d.play.actor_team import ActorTeam
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import returns_by_size
from pc3d.tasks.make import original_world
from pc3d.tasks.registry import TASKS
from tests.export.policies import EXAMPLES, as_onnx, example, small_policy
from tests.export.test_agreement import decide
from tests.export.test_files import without_us

TEAM_SIZE = 3  # which training leaves out, in all three games


class Deployed:
    """A policy, its exported file, and its game at a held-out size."""

    def __init__(self, folder: Path, task: str) -> None:
        self.policy = small_policy(folder / f"{task}.safetensors", task, "pc3d", favourite=2)
        self.task = self.policy.task.with_slots(TEAM_SIZE)
        self.file = folder / f"{task}.onnx"
        self.file.write_bytes(as_onnx(self.policy))


@pytest.fixture(scope="module")
def deployed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deployed")
    return cache(lambda task: Deployed(folder, task))


def expected_actions(policy, task, start: int) -> tuple[list[np.ndarray], float]:
    """What the package's own actor does in the original game with the robots' draws."""
    draws = [np.random.default_rng(number) for number in range(task.slots)]
    world = original_world(task)
    world.reset(start)
    memory, actions, total, over = policy.actor.first_memory(task.slots), [], 0.0, False
    while not over:
        chances = np.array([draw.random() for draw in draws], np.float32)
        seen = world.observe().astype(np.float32)
        memory, _, _, chosen = decide(policy.actor, memory, seen, chances)
        outcome = world.step(chosen)
        actions.append(chosen)
        total, over = total + outcome.reward, outcome.terminated or outcome.truncated
    return actions, float(task.reported_return(total, task.slots))


@pytest.mark.parametrize("name", TASKS)
def test_robots_do_what_the_policy_does_with_the_same_draws(name, deployed, monkeypatch):
    team, actions = deployed(name), []

    def watched(task):
        world = original_world(task)
        step = world.step
        monkeypatch.setattr(world, "step", lambda chosen: (actions.append(chosen), step(chosen))[1])
        return world

    deploy = example("deploy_original")
    monkeypatch.setattr(deploy, "original_world", watched)
    (returned,) = deploy.deploy(team.file, team.task, episodes=1)
    expected, expected_return = expected_actions(team.policy, team.task, start=0)
    np.testing.assert_array_equal(actions, expected)
    assert returned == expected_return


def test_a_robot_forgets_between_episodes(deployed):
    team, random = deployed("lbf"), np.random.default_rng(0)
    robot, actor = example("robot"), OnnxActor(team.file.read_bytes())
    seen = np.linspace(-1, 1, team.task.observation_width, dtype=np.float32)
    first = actor.step(seen[None], actor.first_memory(1)).probabilities[0]
    with example("deploy_original").Robot(team.file, 0) as process:
        for _ in range(20):
            process.forget()
            process.show(seen)
            assert process.action() == robot.choose(first, random.random())


@pytest.mark.parametrize("name", ["spread", "lbf", pytest.param("rware", marks=pytest.mark.slow)])
def test_the_return_agrees_with_evaluation_within_sampling_error(name, deployed):
    """Teams that never trained hardly eat or deliver: for those two the test of equal draws tells more."""
    team, episodes = deployed(name), 4 if name == "rware" else 30
    returns = example("deploy_original").deploy(team.file, team.task, episodes, seed=1)
    arena, actors = CompiledArena(team.policy.task), ActorTeam(team.policy.actor)
    expected = returns_by_size(arena, actors, (TEAM_SIZE,), rollouts=100)[TEAM_SIZE]
    error = np.sqrt(np.var(returns, ddof=1) / len(returns) + np.var(expected, ddof=1) / len(expected))
    assert abs(np.mean(returns) - np.mean(expected)) <= 4 * error
    if name == "spread":
        assert np.mean(expected) < -60  # they run away, so that standing still would be noticed


def test_a_robot_needs_only_numpy_and_onnxruntime(deployed, tmp_path):
    team = deployed("lbf")
    (tmp_path / "pipe").write_bytes(b"n" + b"o" + bytes(4 * team.task.observation_width))
    program = (
        "import runpy, os; os.dup2(os.open('pipe', os.O_RDONLY), 0); "
        f"runpy.run_path({str(EXAMPLES / 'robot.py')!r}, run_name='__main__')"
    )
    finished = without_us(program, str(team.file), "0", folder=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert ord(finished.stdout) < team.task.action_count


def words_for(file: Path, *words: object) -> list[str]:
    return [sys.executable, "-W", "error", str(EXAMPLES / "deploy_original.py"), str(file), *map(str, words)]


def test_the_example_runs_as_its_usage_says(deployed):
    words = words_for(deployed("lbf").file, "--task", "lbf", "--team-size", 7, "--episodes", 2)
    finished = subprocess.run(words, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert "lbf, 7 robots, 2 episodes: " in finished.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--task", "rware", "--team-size", 7], "this policy is for the task lbf"),
        (
            ["--task", "lbf", "--team-size", 99],
            "lbf is played by 2 to 96 agents (one cell each for agents and 4 foods on 10 × 10), not 99",
        ),
    ],
)
def test_the_example_names_mistakes_in_a_sentence(words, sentence, deployed, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["deploy_original.py", str(deployed("lbf").file), *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        example("deploy_original").main()
    assert stop.value.code == 2
    assert sentence in capsys.readouterr().err


def test_robots_end_when_their_starter_is_killed(deployed):
    words = words_for(deployed("lbf").file, "--task", "lbf", "--team-size", 2, "--episodes", 100_000)
    starter = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    wait_for(lambda: len(children_of(starter.pid)) == 2)
    robots = children_of(starter.pid)
    os.kill(starter.pid, signal.SIGKILL)
    starter.wait()
    wait_for(lambda: not any(Path(f"/proc/{robot}").exists() for robot in robots))


def children_of(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def wait_for(condition, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
