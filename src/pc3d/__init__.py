"""Open-team cooperation: policies that keep cooperating when their team changes.

    import pc3d

    run = pc3d.train(pc3d.paper("spread", "pc3d"), "runs/spread/pc3d/seed-0")
    returns = pc3d.evaluate(run.path)  # by team size, seen and unseen
    agent = pc3d.load("rware/pc3d").agent()  # acts from what it alone has seen: agent.act(observation)

Import it before JAX computes anything: it pins JAX to one thread, which is fastest over several runs and
gives the same bits every time.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pc3d.system import threads

if TYPE_CHECKING:  # what is here is imported when it is asked for: importing JAX takes a second
    import numpy as np
    from jaxtyping import Float

    from pc3d.evaluation.run import EvaluationSettings
    from pc3d.experiment.experiment import Experiment
    from pc3d.runs.habits import Habits
    from pc3d.runs.policy import Policy
    from pc3d.runs.run_folder import RunFolder
    from pc3d.runs.watcher import Watcher

__all__ = ["evaluate", "load", "paper", "train"]

threads.pin()


def paper(task: str, method: str, *, seed: int = 0, episodes: int | None = None) -> Experiment:
    """The paper's experiment with a method on a task: spread, lbf or rware. `replace` changes settings."""
    from pc3d.presets.paper import paper as made

    return made(task, method, seed=seed, episodes=episodes)


def train(
    experiment: Experiment,
    folder: Path | str,
    *,
    habits: Habits | None = None,
    watcher: Watcher | None = None,
    task: str | None = None,
    origin: Policy | Path | str | None = None,
) -> RunFolder:
    """Train until done, continuing whatever the folder already holds, to the same bits as without a stop.

    `task` names an own task's code again: no experiment alone makes pc3d run code. `origin` is a policy to
    begin with, in the place of fresh weights.
    """
    from pc3d.play.opening import open_arena
    from pc3d.runs.habits import DEFAULT_HABITS
    from pc3d.runs.origin import origin_of
    from pc3d.runs.train import train as trained

    first = load(origin) if isinstance(origin, Path | str) else origin
    experiment = experiment if first is None else replace(experiment, origin=origin_of(first))
    with open_arena(experiment, task, original=experiment.backend == "original") as arena:
        return trained(experiment, arena, folder, habits or DEFAULT_HABITS, watcher, first)


def evaluate(
    policy: Policy | Path | str,
    *,
    team_sizes: tuple[int, ...] | None = None,
    settings: EvaluationSettings | None = None,
    out: Path | str | None = None,
    task: str | None = None,
) -> dict[int, Float[np.ndarray, " rollout"]]:
    """The returns of a policy by team size, all of its experiment's sizes if none are given.

    Scores, contexts and replays are written to `out`; for a run's folder, to the folder itself.
    """
    from pc3d.evaluation.run import DEFAULT_SETTINGS, returns_of
    from pc3d.evaluation.run import evaluate as evaluated
    from pc3d.play.opening import open_arena
    from pc3d.runs.policy import folder_of

    loaded = load(policy) if isinstance(policy, Path | str) else policy
    chosen = settings or DEFAULT_SETTINGS
    target = Path(out) if out is not None else folder_of(loaded)
    with open_arena(loaded.experiment, task, original=chosen.original) as arena:
        return returns_of(evaluated(loaded, arena, target, team_sizes, chosen))


def load(policy: Path | str) -> Policy:
    """A trained policy: by a run's folder, by its file, or by the name of one that comes with pc3d.

    Its `agent()` plays one agent, its `players(n)` a whole team. No code is run by loading it.
    """
    from pc3d.runs.policy import load_policy
    from pc3d.runs.shipped import found

    return load_policy(found(policy))
