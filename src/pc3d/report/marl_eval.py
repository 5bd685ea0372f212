"""The runs in the JSON format of marl-eval, whose tools aggregate and plot experiments of this field.

environment → task → algorithm → seed → step; our task is its environment and our team size its task, so
that what it calls aggregation over tasks is our aggregation over team sizes.
"""

from collections import defaultdict
from typing import Any

from pc3d.report.runs import Runs

METRIC = "mean_episode_return"


def marl_eval(runs: Runs) -> dict[str, Any]:
    """All finished and fully scored runs; returns are not scaled."""
    content: dict[str, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for task, method, of_method in runs.by_method:
        for run in of_method:
            if run.scores is None or not run.complete:
                continue
            for size, returns in run.scores.returns.items():
                content[task][f"{size}-agents"][method][f"seed_{run.experiment.seed}"] = {
                    **_steps(run.evaluations, str(size)),
                    "absolute_metrics": {METRIC: returns.tolist()},
                }
    return content


def _steps(evaluations: list[dict[str, Any]], size: str) -> dict[str, Any]:
    """The evaluations on the way, where there are any; the step is the number of episodes trained on."""
    lines = [line for line in evaluations if size in line["return_by_size"]]
    return {
        f"step_{number}": {"step_count": line["episodes"], METRIC: [line["return_by_size"][size]]}
        for number, line in enumerate(lines, start=1)
    }
