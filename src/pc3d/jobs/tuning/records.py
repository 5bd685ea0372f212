"""Trials as the storage knows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pc3d.jobs.tuning.trial_folder import Score


@dataclass(frozen=True)
class TrialRecord:
    """One trial: what it tried, how far it is, and what it came to."""

    number: int
    state: str
    """waiting, running, done, given up or failed."""
    settings: dict[str, Any]
    score: Score | None
    note: str

    @property
    def ended(self) -> bool:
        return self.state not in ("waiting", "running")

    @property
    def validation(self) -> float:
        """By which trials are compared; one without a score is below all others."""
        return float("-inf") if self.score is None else self.score.validation


def best_of(records: list[TrialRecord]) -> TrialRecord | None:
    """The trial with the highest validation return; the earlier one of two that are equal."""
    scored = [record for record in records if record.score is not None]
    return max(scored, key=lambda record: record.validation, default=None)
