"""The search space: one row a setting, with what is tried and for which methods.

The paper gives the settings its searches ended with, not the ranges. Each range here holds all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pc3d.chaining import DISTILLED, METHOD_NAMES, ancestors, family
from pc3d.errors import BadInput
from pc3d.presets.changes import as_text, setting
from pc3d.settings import Experiment

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
        return (
            {as_text(value): value for value in self.values}.get(stored) if isinstance(stored, str) else None
        )


@dataclass(frozen=True)
class Row:
    """One setting of the search."""

    setting: str
    tried: Between | OneOf
    methods: tuple[str, ...]


# The paper tunes IPPO and MAPPO whole; PIC and PC3D inherit MAPPO's actor and PPO rows and search their own.
WHOLE = tuple(method for method in METHOD_NAMES if not ancestors(method))
CENTRAL = family("mappo")
SET_CRITIC = tuple(method for method in CENTRAL if method not in WHOLE)
CONTEXTUAL = family("pc3d")

SPACE = (
    Row("ppo.learning_rate", Between(1e-4, 3e-3, log=True), WHOLE),
    Row("ppo.batch_size", OneOf((32, 64, 128, 256)), WHOLE),
    Row("ppo.update_every_episodes", OneOf((1, 2, 4, 8, 16)), WHOLE),
    Row("ppo.epochs", OneOf((4, 6, 8, 10)), WHOLE),
    Row("ppo.clip", OneOf((0.10, 0.15, 0.20, 0.25, 0.30)), WHOLE),
    Row("ppo.discount", OneOf((0.97, 0.98, 0.985, 0.99, 0.995)), WHOLE),
    Row("ppo.gae_lambda", OneOf((0.90, 0.93, 0.95, 0.97, 0.99)), WHOLE),
    Row("ppo.entropy_coefficient", Between(1e-4, 3e-2, log=True), WHOLE),
    Row("ppo.value_coefficient", OneOf((0.25, 0.5, 1.0, 2.0)), WHOLE),
    Row("ppo.max_gradient_norm", OneOf((0.5, 1.0, 2.0, 5.0, 10.0)), WHOLE),
    Row("actor.widths", OneOf(((64, 64), (128, 128), (128, 256, 128), (96, 128, 128, 96))), WHOLE),
    Row("actor.rnn_dim", OneOf((32, 64, 128, 192)), WHOLE),
    Row(
        "critic.widths",
        OneOf(((96, 96), (128, 96), (128, 128), (160, 128), (160, 160), (192, 160))),
        CENTRAL,
    ),
    Row("critic.set_embed_dim", OneOf((48, 96, 160)), SET_CRITIC),
    Row("critic.set_encoder_widths", OneOf(((48, 48), (96, 64), (96, 96), (160, 96))), SET_CRITIC),
    Row("critic.team_size_feature", OneOf((False, True)), SET_CRITIC),
    Row("critic.tokens", Between(2, 8, whole=True), CONTEXTUAL),
    Row("distillation.weight", Between(0.01, 1.0, log=True), DISTILLED),
    Row("distillation.teacher_rate", Between(0.001, 0.05, log=True), DISTILLED),
    Row("distillation.reliance_min", OneOf((-4.0, -3.0, -2.0)), CONTEXTUAL),
    Row("distillation.reliance_max", OneOf((1.0, 1.5, 2.0, 3.0)), CONTEXTUAL),
)


def space_for(base: Experiment, fixed: Iterable[str] = ()) -> tuple[Row, ...]:
    """The rows that a method searches, without the fixed ones, and wide enough to hold the base's values."""
    fixed = set(fixed)
    rows = tuple(
        replace(row, tried=row.tried.including(setting(base, row.setting)))
        for row in SPACE
        if base.method in row.methods and row.setting not in fixed
    )
    if not rows:
        raise BadInput("every setting of this search is fixed: leave at least one to be searched")
    return rows


def suggested(trial: Trial, rows: tuple[Row, ...]) -> dict[str, Any]:
    """The settings that the sampler proposes for a trial."""
    return {row.setting: row.tried.suggested(trial, row.setting) for row in rows}


def stored(base: Experiment, rows: tuple[Row, ...]) -> dict[str, Any]:
    """The base's own values, as the storage writes them."""
    return {row.setting: row.tried.stored(setting(base, row.setting)) for row in rows}


def read(stored: dict[str, Any], rows: tuple[Row, ...]) -> dict[str, Any] | None:
    """The settings of a stored trial; None if it lacks one or holds what this search cannot try."""
    values = {row.setting: row.tried.read(stored.get(row.setting)) for row in rows}
    return None if None in values.values() or set(stored) != set(values) else values
