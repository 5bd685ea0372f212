"""What evaluations of changing teams left in a run's folder, as numbers to work with."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from pc3d.evaluation.changing.censored import CensoredTimes
from pc3d.evaluation.changing.run import read_changes
from pc3d.evaluation.changing.twins import CHANGED, LATER, UNCHANGED
from pc3d.evaluation.evaluation_file import FILES_OF_ROSTERS
from pc3d.system.errors import DamagedFile

ByRollout = Float[np.ndarray, " rollout"]
RULES = ("return_definition", "process", "rules", "horizon", "actions")  # what must be alike to be compared


@dataclass(frozen=True)
class Shocked:
    """How a team came through the one change of its episodes."""

    recovery: CensoredTimes
    unshocked: CensoredTimes
    """As if it had changed: what a team that never did seems to take."""
    response: Float[np.ndarray, " step"]
    response_from: int
    """Which step since the change the first of them is."""
    regrets: ByRollout | None
    """In units of what there is to gain; None where that is not known."""
    contexts: dict[str, dict[str, Float[np.ndarray, " since"]]] = field(default_factory=dict)
    """By who (stayers, newcomers) and what (alignment, gate)."""


@dataclass(frozen=True)
class ChangingScores:
    """One policy's rollouts of one team size by one roster process."""

    team_size: int
    changes: float  # in an episode, on average
    returns: ByRollout
    unchanged: ByRollout  # if nobody had left or joined
    mixture: ByRollout | None  # of constant teams; of processes with many changes
    shock: Shocked | None  # of processes with one
    joiners: CensoredTimes | None  # until their first contribution
    incumbents: CensoredTimes | None


@dataclass(frozen=True)
class ChangingFile:
    """All sizes of one policy and process, and by which rules they were played."""

    path: Path
    roster: str
    player: tuple[str, str, int]  # task, method, seed
    policy: str  # its digest
    rules: dict[str, Any]
    sizes: dict[int, ChangingScores]


def read_changing(folder: Path) -> Iterator[ChangingFile]:
    """Every process that was played in a run's folder, if its file is still what was written."""
    for path in sorted(folder.glob(FILES_OF_ROSTERS)):
        content = read_changes(path)
        try:
            yield ChangingFile(
                path=path,
                roster=str(content["roster"]),
                player=(str(content["task"]), str(content["method"]), int(content["seed"])),
                policy=str(content["policy_sha256"]),
                rules={name: content[name] for name in RULES},
                sizes={int(size): _scores(int(size), one) for size, one in content["by_size"].items()},
            )
        except (AttributeError, KeyError, TypeError, ValueError, IndexError):
            raise DamagedFile(f"{path} is not what pc3d evaluate --roster writes") from None


def _scores(team_size: int, one: dict[str, Any]) -> ChangingScores:
    waiting = {
        name: CensoredTimes.of_life_table(times["life_table"]) for name, times in _waiting(one).items()
    }
    returns = one["returns"]
    return ChangingScores(
        team_size=team_size,
        changes=float(one["changes"]),
        returns=_row(returns[CHANGED]),
        unchanged=_row(returns[UNCHANGED]),
        mixture=_row(one["mixture"]) if "mixture" in one else None,
        shock=_shocked(one) if "recovery" in one else None,
        joiners=waiting.get("joiners"),
        incumbents=waiting.get("incumbents"),
    )


def _waiting(one: dict[str, Any]) -> dict[str, Any]:
    waiting: dict[str, Any] = one.get("first_contribution", {})  # the first versions did not look for it
    return waiting


def _shocked(one: dict[str, Any]) -> Shocked:
    recovery, unshocked = (
        CensoredTimes(np.array(one[name]["steps"], int), np.array(one[name]["seen"], bool))
        for name in ("recovery", "recovery_unshocked")
    )
    regrets = None
    if one.get("regret") is not None:
        missing = _row(one["since_change"][LATER]) - _row(one["since_change"][CHANGED])
        regrets = missing / (float(one["scripted"]) - float(one["random"]))
    contexts = {
        who: {what: _row(values) for what, values in lag.items()}
        for who, lag in one.get("context", {}).items()
    }
    response, first = _row(one["response"]), int(one["response_from"])
    return Shocked(recovery, unshocked, response, first, regrets, contexts)


def _row(values: Any) -> Float[np.ndarray, " value"]:
    row = np.array(values, float)
    if row.ndim != 1 or not np.isfinite(row).all():
        raise ValueError
    return row
