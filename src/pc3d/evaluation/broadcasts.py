"""What a team is worth whose coach speaks otherwise: at other steps, or with news alone."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pc3d.evaluation.evaluation_file import COACH_EVERY, FILES_OF_LESS_SAID
from pc3d.evaluation.messages import BySize, plain_by_size, returns_by_size, scored_by_size, write_beside
from pc3d.experiment.copa_settings import NEVER
from pc3d.networks.coached_actor import CoachedActor
from pc3d.play.arena import CompiledArena
from pc3d.play.coached_team import CoachedTeam
from pc3d.runs.policy import Policy
from pc3d.system.checked_json import read_checked
from pc3d.system.errors import BadInput

FILE = FILES_OF_LESS_SAID[COACH_EVERY]
NAMES = (
    *("format", "task", "method", "seed", "policy_sha256", "return_definition", "starts_seed"),
    *("width", "trained_every", "rollouts", "scores"),
)


@dataclass(frozen=True)
class Speaking:
    """How often a coach speaks, and how far a word must lie from the last one to be said."""

    every: int
    thrift: float = 0.0

    def __str__(self) -> str:
        often = "never" if self.every == NEVER else f"T={self.every}"
        return f"{often}, >{self.thrift:g}" if self.thrift else often


def coached_actor(policy: Policy) -> CoachedActor:
    """The policy's actor, or a sentence if it has no coach."""
    if not isinstance(policy.actor, CoachedActor):
        raise BadInput(f"agents of {policy.experiment.method} have no coach that could speak more or less")
    return policy.actor


def evaluate_speaking(
    policy: Policy,
    ways: tuple[Speaking, ...],
    team_sizes: tuple[int, ...],
    rollouts: int,
    *,
    about: dict[str, Any],
    folder: Path,
    advance: Callable[[], None] = lambda: None,
) -> dict[Speaking, BySize]:
    """Score a policy whose coach speaks in each of these ways, from the same starts; write that beside it."""
    actor, arena = coached_actor(policy), CompiledArena(policy.task.with_slots(max(team_sizes)))
    policy.experiment.rosters.refuse_sealed(team_sizes)
    found = {
        way: scored_by_size(
            arena,
            CoachedTeam(actor, every=way.every, thrift=way.thrift),
            team_sizes,
            rollouts,
            advance,
        )
        for way in ways
    }
    scores = [
        {"every": way.every, "thrift": way.thrift, "by_size": plain_by_size(by_size)}
        for way, by_size in found.items()
    ]
    content = {**about, "width": actor.told_width, "trained_every": actor.every, "rollouts": rollouts}
    write_beside(folder, FILE, {**content, "scores": scores})
    return {way: returns_by_size(by_size) for way, by_size in found.items()}


def read_speaking(folder: Path) -> dict[str, Any]:
    """What such an evaluation left, if it is still what was written."""
    return read_checked(folder / FILE, NAMES)
