"""The search space: one row a setting, with what is tried and for which methods.

The paper gives the settings its searches ended with, not the ranges. Each range here holds all of them.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import ancestors, method_named
from pc3d.experiment.search import Between, OneOf, Tried
from pc3d.presets.changes import setting
from pc3d.system.errors import BadInput

WITHOUT_CENTRAL_LAYERS = ("local", "mean-utility")
ENTITIES = ("entity-mixer", "coach-mixer")
PADDED = ("joint", "joint-mixer", "joint-action", "joint-alternatives")  # they see a list, not a set


@dataclass(frozen=True)
class Row:
    """One setting of the search."""

    setting: str
    tried: Tried
    kind: str
    """Of methods: which ones search it."""

    def searched_by(self, method: str) -> bool:
        """The paper tunes IPPO and MAPPO whole; their heirs take the actor from them, and the algorithm."""
        row, parents = method_named(method), ancestors(method)
        kinds = {
            "tuned whole": not parents,
            "of its algorithm": self.setting.startswith(f"{row.algorithm.section}.")
            and all(method_named(name).algorithm is not row.algorithm for name in parents),
            "central": row.critic not in WITHOUT_CENTRAL_LAYERS,
            "with a set critic": row.critic not in (*WITHOUT_CENTRAL_LAYERS, *PADDED, *ENTITIES),
            "with context": row.has_context,
            "distilled": row.distils,
            # Where targets come from a slow copy, the averaged teacher is a part of it.
            "averaged by itself": row.distils and not row.algorithm.has_slow_copy,
        }
        return kinds[self.kind]


NETWORKS = (
    Row("actor.widths", OneOf(((64, 64), (128, 128), (128, 256, 128), (96, 128, 128, 96))), "tuned whole"),
    Row("actor.rnn_dim", OneOf((32, 64, 128, 192)), "tuned whole"),
    Row(
        "critic.widths",
        OneOf(((96, 96), (128, 96), (128, 128), (160, 128), (160, 160), (192, 160))),
        "central",
    ),
    Row("critic.set_embed_dim", OneOf((48, 96, 160)), "with a set critic"),
    Row("critic.set_encoder_widths", OneOf(((48, 48), (96, 64), (96, 96), (160, 96))), "with a set critic"),
    Row("critic.team_size_feature", OneOf((False, True)), "with a set critic"),
    Row("critic.tokens", Between(2, 8, whole=True), "with context"),
    Row("distillation.weight", Between(0.01, 1.0, log=True), "distilled"),
    Row("distillation.final_share", OneOf((0.0, 0.25, 0.5, 1.0)), "distilled"),
    Row("distillation.teacher_rate", Between(0.001, 0.05, log=True), "averaged by itself"),
    Row("distillation.reliance_min", OneOf((-4.0, -3.0, -2.0)), "with context"),
    Row("distillation.reliance_max", OneOf((1.0, 1.5, 2.0, 3.0)), "with context"),
)


def _rows(base: Experiment) -> tuple[Row, ...]:
    searched = base.algorithm.searched.items()
    own = (Row(f"{base.algorithm.section}.{name}", tried, "of its algorithm") for name, tried in searched)
    return (*own, *NETWORKS)


def space_for(base: Experiment, fixed: Collection[str] = ()) -> tuple[Row, ...]:
    """The rows that a method searches, without the fixed ones, and wide enough to hold the base's values."""
    rows = tuple(
        replace(row, tried=row.tried.including(setting(base, row.setting)))
        for row in _rows(base)
        if row.searched_by(base.method) and row.setting not in fixed
    )
    if not rows:
        raise BadInput("every setting of this search is fixed: leave at least one to be searched")
    return rows


def stored(base: Experiment, rows: tuple[Row, ...]) -> dict[str, Any]:
    """The base's own values, as the storage writes them."""
    return {row.setting: row.tried.stored(setting(base, row.setting)) for row in rows}


def read(stored: dict[str, Any], rows: tuple[Row, ...]) -> dict[str, Any] | None:
    """The settings of a stored trial; None if it lacks one or holds what this search cannot try."""
    values = {row.setting: row.tried.read(stored.get(row.setting)) for row in rows}
    return None if None in values.values() or set(stored) != set(values) else values
