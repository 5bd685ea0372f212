"""Separate robots play the original game: a process each, which sees its own observations and nothing else.

After `pc3d export RUN policy.onnx`, and with the extras originals and export:
python examples/deploy_original.py policy.onnx --task rware --team-size 9 --episodes 4
"""

import argparse
import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import onnxruntime

from pc3d.presets.experiment_file import read_experiment
from pc3d.tasks.make import make_task, original_world
from pc3d.tasks.original_world import OriginalWorld
from pc3d.tasks.registry import TASKS
from pc3d.tasks.task import AnyTask

ROBOT = Path(__file__).with_name("robot.py")
ROBOTS_PER_SEED = 1000  # so that robots of different seeds draw differently


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("policy", type=Path, help="an .onnx file written by pc3d export")
    parser.add_argument("--task", choices=TASKS, required=True, help="the game the policy was trained for")
    parser.add_argument("--team-size", type=int, required=True, help="how many robots play")
    parser.add_argument("--episodes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0, help="decides the starts and the robots' draws")
    options = parser.parse_args()
    try:
        task = task_of(options.policy).with_slots(options.team_size)
    except Exception as error:
        parser.error(f"{options.policy} cannot be played: {error}")
    if task.name != options.task:
        parser.error(f"this policy is for the task {task.name}, not {options.task}")
    if options.episodes < 1:
        parser.error("at least 1 episode must be played")
    returns = deploy(options.policy, task, options.episodes, options.seed)
    print(f"return: {task.return_definition}")
    error = f" ± {np.std(returns, ddof=1) / len(returns) ** 0.5:.3f}" if len(returns) > 1 else ""
    print(
        f"{task.name}, {task.slots} robots, {len(returns)} episodes: {np.mean(returns):.3f}{error} on average"
    )


def task_of(policy: Path) -> AnyTask:
    """The game that the file says it is for, with the settings it was trained with."""
    about = onnxruntime.InferenceSession(policy).get_modelmeta().custom_metadata_map
    if "pc3d" not in about:
        raise ValueError("it was not written by pc3d export")
    return make_task(read_experiment(json.loads(about["pc3d"])["experiment"], str(policy)))


def deploy(policy: Path, task: AnyTask, episodes: int, seed: int = 0) -> list[float]:
    """The returns of a team that fills all of the task's slots."""
    world = original_world(task)
    with ExitStack() as team:
        numbers = range(seed * ROBOTS_PER_SEED, seed * ROBOTS_PER_SEED + task.slots)
        robots = [team.enter_context(Robot(policy, number)) for number in numbers]
        return [play(world, robots, seed * episodes + episode) for episode in range(episodes)]


def play(world: OriginalWorld, robots: list["Robot"], start: int) -> float:
    """One episode from a start of the original's own; all robots think at the same time."""
    world.reset(start)
    for robot in robots:
        robot.forget()
    total, over = 0.0, False
    while not over:
        for robot, observation in zip(robots, world.observe(), strict=True):
            robot.show(observation)
        outcome = world.step(np.array([robot.action() for robot in robots]))
        total, over = total + outcome.reward, outcome.terminated or outcome.truncated
    return float(world.task.reported_return(total, world.team_size))


class Robot(subprocess.Popen):
    """A process of its own; it ends when its pipe does, at the latest when this process ends."""

    def __init__(self, policy: Path, number: int) -> None:
        words = [sys.executable, str(ROBOT), str(policy), str(number)]
        super().__init__(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def forget(self) -> None:
        self.stdin.write(b"n")

    def show(self, observation: np.ndarray) -> None:
        self.stdin.write(b"o" + observation.astype(np.float32).tobytes())
        self.stdin.flush()

    def action(self) -> int:
        answer = self.stdout.read(1)
        if not answer:
            sys.exit("a robot has ended; what it said stands above")
        return answer[0]


if __name__ == "__main__":
    main()
