"""What the recorded runs give, for the sentences that tell of it."""

from functools import cache

import numpy as np

from pc3d.report.tables.claims import claims_table
from pc3d.report.tables.clock import measured_seconds_per_update
from pc3d.report.tables.context import contexts
from pc3d.report.names import method_title, task_title
from pc3d.report.paper_numbers import published_returns
from pc3d.report.tables.results import SPLITS
from pc3d.report.runs import Runs, find_runs
from pc3d.report.tables.training import means_by_stage
from tests.docs.pages import ROOT

RIVALS = ("ippo", "mappo", "pic")  # of PC3D in the main table
WHOLE_STUDIES = ("spread", "lbf")


@cache
def runs() -> Runs:
    return find_runs([ROOT / "results"])


@cache
def by_seed(task: str, method: str, split: str) -> np.ndarray:
    """Mean returns over a split's sizes, as the tables show them."""
    sizes = getattr(runs().rosters(task), split)
    return runs().matrix(task, method, sizes).mean(axis=1) * task_title(task).scale


def mean(task: str, method: str, split: str) -> float:
    return float(by_seed(task, method, split).mean())


def at_size(task: str, method: str, size: int) -> float:
    return float(runs().matrix(task, method, (size,)).mean()) * task_title(task).scale


def leads(task: str, rival: str) -> dict[int, float]:
    """PC3D's mean return minus a rival's at each team size."""
    sizes = runs().rosters(task).all
    return {size: at_size(task, "pc3d", size) - at_size(task, rival, size) for size in sizes}


def times_of_the_best(rival: str) -> tuple[float, float]:
    """Every seed of PC3D against a rival's best, on all splits: the least and the most."""
    ratios = [by_seed("rware", "pc3d", split) / by_seed("rware", rival, split).max() for split in SPLITS]
    return float(np.min(ratios)), float(np.max(ratios))


def printed(task: str, method: str, split: str) -> float:
    """The paper's mean; where it has none, one that any of ours is above."""
    found = published_returns(method, task, split)
    return found.mean if found else -np.inf


def counted_twice(method: str, split: str) -> float:
    """Spread's mean return if each colliding pair cost 2 instead of 1."""
    sizes = getattr(runs().rosters("spread"), split)
    return float(
        np.mean(
            [
                (scores.returns[size] - scores.colliding_pairs[size]).mean()
                for scores in runs().scored("spread", method)
                for size in sizes
            ]
        )
    )


def of_contexts(task: str, split: str, name: str, method: str = "pc3d") -> np.ndarray:
    """One measure of a method's contexts, for each seed."""
    sizes = getattr(runs().rosters(task), split)
    found = contexts(runs(), task)[method]
    return np.array([np.nanmean([each.by_size[size][name] for size in sizes]) for each in found])


def shut(task: str, method: str, split: str) -> float:
    """A method's mean return with its gate forced shut."""
    return float(of_contexts(task, split, "return_gate_off", method).mean()) * task_title(task).scale


def kept(task: str, split: str, value: float) -> float:
    """The share of PC3D's lead over MAPPO that another return has."""
    theirs = mean(task, "mappo", split)
    return (value - theirs) / (mean(task, "pc3d", split) - theirs)


def gains_by_stage(task: str) -> list[float]:
    """PC3D's training return minus MAPPO's, in each stage of the curriculum."""
    ours, theirs = (
        [means_by_stage(run) for run in runs().finished(task, method)] for method in ("pc3d", "mappo")
    )
    scale = task_title(task).scale
    return [
        scale
        * float(
            np.mean([one[stage]["return"] for one in ours])
            - np.mean([one[stage]["return"] for one in theirs])
        )
        for stage in ours[0]
    ]


def updates(task: str, method: str) -> int:
    experiment = runs().finished(task, method)[0].experiment
    return -(-experiment.episodes // experiment.episodes_per_update)


def longer(task: str) -> float:
    """How much longer PC3D's updates took than MAPPO's by the runs' own clocks, in percent."""
    ours, theirs = (
        np.median([measured_seconds_per_update(run) for run in runs().finished(task, method)])
        for method in ("pc3d", "mappo")
    )
    return float(100 * (ours / theirs - 1))


@cache
def verdicts(task: str, first: str, second: str) -> dict[str, str]:
    """The words of the table of claims, by split, without their p."""
    table = claims_table(runs())
    assert table is not None
    title = f"{method_title(first)} against {method_title(second)}"
    row = next(row for row in table.rows if row[0].text == title)
    start = 1 + len(SPLITS) * runs().tasks.index(task)
    cells = row[start : start + len(SPLITS)]
    return {split: cell.text.split(", p")[0] for split, cell in zip(SPLITS, cells, strict=True)}
