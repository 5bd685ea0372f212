"""Spread's returns by each way of counting collisions, since the paper does not say which one is its own."""

from collections.abc import Iterator

import numpy as np

from pc3d.report.names import SPLITS, heading, method_title
from pc3d.report.paper_numbers import MAIN
from pc3d.report.runs import Runs
from pc3d.report.scores import Scores
from pc3d.report.statistics import over_seeds
from pc3d.report.tables.results import spread_text
from pc3d.report.tables.table import Row, Table, make_table
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
    rules = runs.of(TASK)[0].experiment.rules
    assert isinstance(rules, SpreadRules)
    rows = [row for name, scores in known.items() for row in _rows(name, scores, rules.collisions)]
    columns = ("Method", "a pair costs", *SPLITS, "test ÷ train")
    return make_table(heading("collisions", cost=COUNTS[rules.collisions]), columns, rows)


def _tells_pairs(scores: Scores) -> bool:
    return bool(scores.colliding_pairs) and not scores.lacking(paper_of(TASK).rosters.all)


def _rows(name: str, scores: list[Scores], trained: Collisions) -> Iterator[Row]:
    """A player's returns by each count, and as the paper prints them."""
    for count, cost in COUNTS.items():
        by_seed = [[_mean(seed, count, trained, split) for split in SPLITS] for seed in scores]
        splits = [over_seeds(column) for column in np.array(by_seed).T]
        texts = [f"{spread.mean:.2f}" if name == STANDING_STILL else spread_text(spread) for spread in splits]
        yield _row(name, cost, texts, [spread.mean for spread in splits])
    if name in MAIN:
        printed = MAIN[name][TASK].values()
        yield _row(name, "paper", [each.text for each in printed], [each.mean for each in printed])


def _row(name: str, cost: str, splits: list[str], means: list[float]) -> Row:
    return method_title(name), cost, *splits, f"{means[-1] / means[0]:.2f}"


def _mean(scores: Scores, count: Collisions, trained: Collisions, split: str) -> float:
    sizes = getattr(paper_of(TASK).rosters, split)
    return float(np.mean([mean_return(scores, count, trained, size) for size in sizes]))


def mean_return(scores: Scores, count: Collisions, trained: Collisions, size: int) -> float:
    """The mean return at a team size, had collisions been counted so."""
    extra_cost = float(collision_weight(count, size)) - float(collision_weight(trained, size))
    return float((scores.returns[size] - extra_cost * scores.colliding_pairs[size]).mean())
