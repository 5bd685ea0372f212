"""Tiny experiments on the sample task; all tests share one, so that they share its compiled programs."""

from contextlib import AbstractContextManager
from dataclasses import replace

from pc3d.cli.own_task import with_world
from pc3d.cli.train import parse
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.world import OwnWorld
from pc3d.play.arena import Arena
from pc3d.play.hosted.crew import Crew, Hosting, Source
from pc3d.play.opening import open_arena
from tests.play.hosted.sample_task import STEPS

PATH = "tests.play.hosted.sample_task:make"
SIZES = ["--train-sizes", "2", "--validation-sizes", "3", "--test-sizes", "4"]
TINY = [
    *("--episodes", "12", "--ppo.update-every-episodes", "4", "--ppo.epochs", "2", "--ppo.batch-size", "2"),
    *(
        "--actor.widths",
        "8",
        "--actor.rnn-dim",
        "6",
        "--critic.widths",
        "8",
        "--critic.set-encoder-widths",
        "8",
    ),
    *("--critic.set-embed-dim", "4", "--tensorboard", "False"),
]


def own_world(horizon: int = STEPS) -> OwnWorld:
    return OwnWorld("host", horizon, (2,), ("left", "stay", "right"), "the meeting's own")


def tiny_experiment(**changes) -> Experiment:
    """What the command line makes of the words above."""
    return replace(with_world(parse([PATH, "pc3d", *SIZES, *TINY]).experiment, None), **changes)


def sample_arena(workers: int = 1) -> AbstractContextManager[Arena]:
    return open_arena(tiny_experiment(), PATH, Hosting(workers))


def sample_crew(workers: int = 1) -> Crew:
    return Crew(Source("own", PATH), Hosting(workers))
