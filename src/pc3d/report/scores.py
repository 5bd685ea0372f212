"""Reading what evaluation wrote: the returns of one player, by team size and rollout, and JSON tables."""

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from pc3d.evaluation.hindrance import HINDERED
from pc3d.evaluation.table import MESSAGES
from pc3d.experiment.names import check_name
from pc3d.runs.line_contract import is_number
from pc3d.system.bounds import within
from pc3d.system.errors import BadInput
from pc3d.system.files import read_text
from pc3d.system.plain import parse

NEEDED_COLUMNS = ("task", "method", "seed", "team_size", "rollout", "return")
Player = tuple[str, str, int]  # task, method, seed
Rollout = tuple[float, ...]  # its return and what was measured, nan where that is not known
LARGEST_TEAM = 10**6
MEASURED = ("colliding_pairs", HINDERED, MESSAGES)
BySize = dict[int, Float[np.ndarray, " rollout"]]


@dataclass(frozen=True)
class Scores:
    """One player's returns: a policy of one seed, or a reference such as the random one."""

    task: str
    method: str
    seed: int
    returns: BySize
    colliding_pairs: BySize = field(default_factory=dict)  # of Spread alone, where all rollouts tell them
    hindered: BySize = field(default_factory=dict)  # of large teams alone
    messages: BySize = field(default_factory=dict)  # per agent and step, of methods that send any

    def means(self, team_sizes: Iterable[int]) -> Float[np.ndarray, " size"]:
        """The mean over rollouts within each of the sizes."""
        return np.array([self.returns[size].mean() for size in team_sizes])

    def lacking(self, team_sizes: Iterable[int]) -> tuple[int, ...]:
        """Which of the sizes were not played."""
        return tuple(size for size in team_sizes if size not in self.returns)


def read_table(path: Path) -> dict[str, Any]:
    """The names and values of a JSON file, or a sentence on what is wrong with it."""
    content = parse(read_text(path), str(path))
    if not isinstance(content, dict):
        raise BadInput(f"{path} is not a table of names and values")
    return content


def read_scores(path: Path) -> list[Scores]:
    """Every player of a scores.csv or references.csv."""
    gathered: dict[Player, dict[int, list[Rollout]]] = {}
    for player, team_size, rollout in _rows(path):
        gathered.setdefault(player, {}).setdefault(team_size, []).append(rollout)
    return [_scores(player, by_size) for player, by_size in gathered.items()]


def _scores(player: Player, rollouts: dict[int, list[Rollout]]) -> Scores:
    columns = {size: np.array(rollouts[size]).T for size in sorted(rollouts)}
    returns, *measured = (
        {size: values[place] for size, values in columns.items()} for place in range(1 + len(MEASURED))
    )
    known = (by_size if all(map(_finite, by_size.values())) else {} for by_size in measured)
    return Scores(*player, returns, *known)


def _finite(values: Float[np.ndarray, " rollout"]) -> bool:
    return all(map(is_number, values.tolist()))


def _rows(path: Path) -> Iterable[tuple[Player, int, Rollout]]:
    try:
        table = csv.DictReader(io.StringIO(read_text(path), newline=""))
        lacking = [name for name in NEEDED_COLUMNS if name not in (table.fieldnames or ())]
        if lacking:
            raise BadInput(f"{path} is not a table of scores: it lacks the columns {', '.join(lacking)}")
        for row in table:
            yield _row(row, f"{path}, line {table.line_num}")
    except csv.Error as error:
        raise BadInput(f"{path} cannot be read as a table of scores: {error}") from None


def _row(row: dict[str, str], where: str) -> tuple[Player, int, Rollout]:
    try:
        player = (row["task"], row["method"], int(row["seed"]))
        team_size, value = int(row["team_size"]), float(row["return"])
    except (TypeError, ValueError):
        raise BadInput(f"{where} is not a score") from None
    for name in player[:2]:
        check_name(name, where)
    if not is_number(value):
        raise BadInput(f"{where} has a return of {value:g}, which no game gives")
    within(f"the team size in {where}", team_size, 1, LARGEST_TEAM)
    return player, team_size, (value, *(_number_or_nan(row.get(name)) for name in MEASURED))


def _number_or_nan(text: str | None) -> float:
    """A column that no table of returns needs must not make a file unreadable."""
    try:
        return math.nan if text is None else float(text)
    except ValueError:
        return math.nan
