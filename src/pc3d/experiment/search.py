"""What a search may try for a setting: a range, or a few values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pc3d.system.plain import as_text

if TYPE_CHECKING:
    from optuna.trial import Trial


@dataclass(frozen=True)
class Between:
    """Any number from low to high."""

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def __str__(self) -> str:
        kind = "whole numbers, " if self.whole else ""
        return f"{kind}{self.low:g} to {self.high:g}{', log scale' if self.log else ''}"

    def including(self, value: Any) -> Between:
        return replace(self, low=min(self.low, value), high=max(self.high, value))

    def suggested(self, trial: Trial, name: str) -> Any:
        if self.whole:
            return trial.suggest_int(name, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(name, self.low, self.high, log=self.log)

    def stored(self, value: Any) -> Any:
        """How the storage writes a value."""
        return value

    def read(self, stored: Any) -> Any:
        """A value from the storage, or None if it is none of this search's."""
        kind = int if self.whole else float
        return stored if type(stored) is kind and self.low <= stored <= self.high else None


@dataclass(frozen=True)
class OneOf:
    """One of a few values; the storage and the tables name them by their text."""

    values: tuple[Any, ...]

    def __str__(self) -> str:
        apart = "; " if isinstance(self.values[0], tuple) else ", "
        return apart.join(map(as_text, self.values))

    def including(self, value: Any) -> OneOf:
        return self if value in self.values else OneOf((*self.values, value))

    def suggested(self, trial: Trial, name: str) -> Any:
        return self.read(trial.suggest_categorical(name, [as_text(value) for value in self.values]))

    def stored(self, value: Any) -> Any:
        return as_text(value)

    def read(self, stored: Any) -> Any:
        return next((value for value in self.values if as_text(value) == stored), None)


Tried = Between | OneOf
