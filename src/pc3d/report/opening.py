"""On which task and team size the page's replays open: where the policies that can be watched differ most."""

from dataclasses import dataclass

import numpy as np

from pc3d.report.runs import Runs


@dataclass(frozen=True)
class Opening:
    task: str
    team_size: int


def most_telling(runs: Runs) -> Opening | None:
    """Among test sizes, where a task has any; nothing where only one method can be watched."""
    found = {}
    for task in runs.tasks:
        *_, last = (sizes for sizes in runs.splits(task).values() if sizes)
        for size in last:
            found[Opening(task, size)] = _contrast(runs, task, size)
    telling = {opening: contrast for opening, contrast in found.items() if contrast > 0}
    return max(telling, key=lambda opening: telling[opening]) if telling else None


def _contrast(runs: Runs, task: str, size: int) -> float:
    """How far apart the methods with replays are, in deviations between rollouts of one policy."""
    rollouts = [
        np.concatenate([run.scores.returns[size] for run in watched if run.scores is not None])
        for method in runs.methods(task)
        if (watched := [run for run in runs.of(task, method) if run.complete and run.shows(size)])
    ]
    if len(rollouts) < 2:
        return 0.0
    means = [float(returns.mean()) for returns in rollouts]
    within = float(np.mean([returns.std() for returns in rollouts]))
    return (max(means) - min(means)) / within if within else 0.0
