"""The tidy table of scores: one row per rollout, as CSV."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass

from pc3d.experiment.rosters import Rosters
from pc3d.play.scores import SizeScores

MESSAGES = "messages"  # per agent and step, of policies that send any
COLUMNS = ("task", "method", "seed", "split", "team_size", "rollout", "return")


@dataclass(frozen=True)
class ScoreRow:
    """One rollout."""

    task: str
    method: str
    seed: int
    split: str
    team_size: int
    rollout: int
    returned: float
    measures: dict[str, float]


@dataclass(frozen=True)
class Player:
    """Whose scores these are: a trained policy, or a reference."""

    task: str
    method: str
    seed: int = 0


def score_rows(player: Player, rosters: Rosters, team_size: int, scores: SizeScores) -> list[ScoreRow]:
    """The rows of one team size."""
    return [
        ScoreRow(
            **vars(player),
            split=rosters.split_of(team_size),
            team_size=team_size,
            rollout=rollout,
            returned=float(returned),
            measures={name: float(values[rollout]) for name, values in scores.measures.items()},
        )
        for rollout, returned in enumerate(scores.returns)
    ]


def as_csv(rows: Iterable[ScoreRow], measure_names: tuple[str, ...]) -> bytes:
    """The table's file; floats as Python writes them, so that reading gives back the same numbers."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, *measure_names])
    for row in rows:
        labels = (row.task, row.method, row.seed, row.split, row.team_size, row.rollout)
        numbers = (row.returned, *(row.measures[name] for name in measure_names))
        writer.writerow([*labels, *map(repr, numbers)])
    return text.getvalue().encode()
