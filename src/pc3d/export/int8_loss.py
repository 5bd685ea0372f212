"""What eight bits cost: the float32 and the int8 policy play the same starts with the same draws."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from jaxtyping import Float

from pc3d.experiment.rosters import Rosters
from pc3d.export.runtime import OnnxActor, OnnxTeam
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import score
from pc3d.tasks.task import Game


@dataclass(frozen=True)
class SizeReturns:
    """The reported returns of both policies at one team size, in pairs."""

    team_size: int
    split: str
    float32: Float[np.ndarray, " rollout"]
    int8: Float[np.ndarray, " rollout"]


@dataclass(frozen=True)
class SplitLoss:
    """Means over rollouts, then over the sizes of a split."""

    split: str
    team_sizes: tuple[int, ...]
    float32: float
    int8: float
    standard_error: float  # of the loss

    @property
    def loss(self) -> float:
        return self.float32 - self.int8

    @property
    def share(self) -> float:
        """The loss as a share of the float32 return; any loss of nothing counts as endless."""
        if self.float32 == 0:
            return inf if self.loss > 0 else 0.0
        return self.loss / abs(self.float32)


def play_both(
    task: Game,
    rosters: Rosters,
    models: tuple[bytes, bytes],
    team_sizes: tuple[int, ...],
    rollouts: int,
    advance: Callable[[], None] = lambda: None,
) -> list[SizeReturns]:
    """Play the float32 and the int8 model at these sizes; `advance` counts the sizes."""
    actors = [OnnxActor(model) for model in models]
    played = []
    for size in team_sizes:
        arena = CompiledArena(task.with_slots(size))
        float32, int8 = (
            np.asarray(score(arena, OnnxTeam(actor), size, rollouts).returns) for actor in actors
        )
        played.append(SizeReturns(size, rosters.split_of(size), float32, int8))
        advance()
    return played


def losses_by_split(played: list[SizeReturns]) -> list[SplitLoss]:
    """One line per split, in the order in which the splits first appear."""
    splits = dict.fromkeys(returns.split for returns in played)
    return [_loss(split, [returns for returns in played if returns.split == split]) for split in splits]


def as_metadata(played: list[SizeReturns], losses: list[SplitLoss], bound: float) -> dict[str, Any]:
    """What the file will say about its own loss."""
    return {
        "rollouts_per_team_size": len(played[0].float32),
        "mean_return_by_team_size": {
            str(size.team_size): {"float32": float(size.float32.mean()), "int8": float(size.int8.mean())}
            for size in played
        },
        "loss_by_split": {
            loss.split: {"loss": loss.loss, "standard_error": loss.standard_error} for loss in losses
        },
        "largest_loss_as_share": bound,
    }


def _loss(split: str, played: list[SizeReturns]) -> SplitLoss:
    variances = [np.var(size.float32 - size.int8, ddof=1) / len(size.float32) for size in played]
    return SplitLoss(
        split=split,
        team_sizes=tuple(size.team_size for size in played),
        float32=float(np.mean([size.float32.mean() for size in played])),
        int8=float(np.mean([size.int8.mean() for size in played])),
        standard_error=float(np.sqrt(np.sum(variances)) / len(played)),
    )
