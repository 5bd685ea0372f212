"""Spread's returns by each way of counting collisions, since the paper does not say which one is its own."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from pc3d.report.names import method_title
from pc3d.report.paper_numbers import MAIN, published_returns
from pc3d.report.runs import Runs
from pc3d.report.scores import Scores
from pc3d.report.statistics import over_seeds
from pc3d.report.tables.results import SPLITS, spread_text
from pc3d.report.tables.table import Cell, Table
from pc3d.tasks.registry import paper_of
from pc3d.tasks.spread.rules import Collisions, SpreadRules
from pc3d.tasks.spread.world import collision_weight

TASK, STANDING_STILL = "spread", "noop"
COUNTS: dict[Collisions, str] = {"pairs": "1", "sum": "2", "mean": "2 / team size"}


def collision_table(runs: Runs) -> Table | None:
    """Each method of the paper's main table and a team that stands still; at the paper's sizes only."""
    if TASK not in runs.tasks or runs.rosters(TASK) != paper_of(TASK).rosters:
        return None
    players = {method: runs.scored(TASK, method) for method in MAIN if method in runs.methods(TASK)}
    if still := runs.references.get(TASK, {}).get(STANDING_STILL):
        players[STANDING_STILL] = [still]
    known = {name: told for name, scores in players.items() if (told := list(filter(_tells_pairs, scores)))}
    if not known:
        return None
    rules = next(run.experiment.rules for run in runs.all if run.experiment.task == TASK)
    assert isinstance(rules, SpreadRules)
    trained = rules.collisions
    return Table(
        name="collisions",
        title="Spread: what a colliding pair costs",
        caption=(
            "The same rollouts if each colliding pair cost the team that much in a step (2: it counts for "
            "both agents; 2 / team size: as a mean over agents); mean ± standard deviation over n seeds. The "
            f"policies were trained for a cost of {COUNTS[trained]}. The last column tells how returns grow "
            "with the team; it also rises as policies get better."
        ),
        columns=("Method", "a pair costs", *SPLITS, "test ÷ train"),
        rows=tuple(
            row
            for name, scores in known.items()
            for row in (*_counted(name, scores, trained), *_printed(name))
        ),
    )


def _tells_pairs(scores: Scores) -> bool:
    return bool(scores.colliding_pairs) and not scores.lacking(paper_of(TASK).rosters.all)


def _counted(name: str, scores: list[Scores], trained: Collisions) -> list[tuple[Cell, ...]]:
    rows = []
    for count, cost in COUNTS.items():
        by_seed = [
            [_mean(seed, count, trained, getattr(paper_of(TASK).rosters, split)) for split in SPLITS]
            for seed in scores
        ]
        splits = [over_seeds(column) for column in np.array(by_seed).T]
        means = [spread.mean for spread in splits]
        texts = [f"{spread.mean:.2f}" if name == STANDING_STILL else spread_text(spread) for spread in splits]
        rows.append(_row(name, cost, texts, means))
    return rows


def _printed(method: str) -> list[tuple[Cell, ...]]:
    printed = [published for split in SPLITS if (published := published_returns(method, TASK, split))]
    texts = [f"{published.mean:.2f} ± {published.deviation:.1f}" for published in printed]
    return [_row(method, "paper", texts, [published.mean for published in printed])] if printed else []


def _row(name: str, cost: str, splits: list[str], means: list[float]) -> tuple[Cell, ...]:
    texts = (method_title(name), cost, *splits, f"{means[-1] / means[0]:.2f}")
    return tuple(map(Cell, texts))


def _mean(scores: Scores, count: Collisions, trained: Collisions, sizes: tuple[int, ...]) -> float:
    """The mean return of a split, had collisions been counted so."""
    return float(np.mean([_returns(scores, count, trained, size).mean() for size in sizes]))


def _returns(
    scores: Scores, count: Collisions, trained: Collisions, size: int
) -> Float[np.ndarray, " rollout"]:
    extra_cost = float(collision_weight(count, size)) - float(collision_weight(trained, size))
    return scores.returns[size] - extra_cost * scores.colliding_pairs[size]
