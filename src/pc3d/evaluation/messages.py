"""How much agents tell each other: messages per agent and step, and what is left when links are lost."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from pc3d.evaluation.evaluation_file import FILES_OF_LESS_SAID, LINKS_DROPPED
from pc3d.evaluation.table import MESSAGES
from pc3d.experiment.execution import LinkLoss
from pc3d.networks.conducted_actor import ConductedActor
from pc3d.networks.talking_actor import TalkingActor
from pc3d.play.arena import CompiledArena, Look
from pc3d.play.coached_team import CoachedTeam
from pc3d.play.conducted_team import ConductedTeam
from pc3d.play.episode import Episode
from pc3d.play.links import teammates_heard
from pc3d.play.scores import SizeScores, score, scores_of
from pc3d.play.talking_team import TalkingTeam, team_of
from pc3d.play.team import Team
from pc3d.runs.policy import Policy
from pc3d.system.checked_json import read_checked, write_checked
from pc3d.system.errors import BadInput
from pc3d.system.files import explained, one_owner, refuse_oddities
from pc3d.tasks.task import Game

FILE = FILES_OF_LESS_SAID[LINKS_DROPPED]
NAMES = (
    *("format", "task", "method", "seed", "policy_sha256", "return_definition", "starts_seed"),
    *("rounds", "width", "renewal", "rollouts", "actions", "by_share"),
)
BySize = dict[int, Float[np.ndarray, " rollout"]]


@dataclass(frozen=True)
class WithMessages:
    """What else is looked at, and how many messages each agent hears at a step: from teammates or a coach."""

    look: Look[SizeScores]
    rounds: int | None
    """How often all tell each other something in a step; None where some hear something now and then."""

    def __call__(self, game: Game, episodes: Episode, beside: Any) -> SizeScores:
        scores = self.look(game, episodes, beside)
        if self.rounds is None:
            heard = _on_average(episodes, episodes.kept["heard"])
        else:
            heard = self.rounds * heard_on_average(episodes)
        return SizeScores(scores.returns, {**scores.measures, MESSAGES: heard})


def looking_at_messages(team: Team, look: Look[SizeScores]) -> Look[SizeScores]:
    """The same look, which counts messages where there are any."""
    if isinstance(team, CoachedTeam | ConductedTeam):
        return WithMessages(look, None)
    return WithMessages(look, team.actor.rounds.count) if isinstance(team, TalkingTeam) else look


def heard_on_average(episodes: Episode) -> Float[Array, " episode"]:
    """How many teammates, by those who were there and had to act."""
    return _on_average(episodes, teammates_heard(episodes.kept["links"]))


def _on_average(episodes: Episode, messages: Shaped[Array, "..."]) -> Float[Array, " episode"]:
    """Of those who were there and had to act."""
    decisions = episodes.present[:, :-1] & episodes.played[:, :, None]
    return jnp.mean(messages, axis=(1, 2), where=jnp.asarray(decisions))


def talking_actor(policy: Policy) -> TalkingActor | ConductedActor:
    """The policy's actor, or a sentence if its agents say nothing to each other."""
    if not isinstance(policy.actor, TalkingActor | ConductedActor):
        raise BadInput(
            f"agents of {policy.experiment.method} send no messages, so there are no links to lose"
        )
    return policy.actor


def evaluate_losses(
    policy: Policy,
    shares: tuple[float, ...],
    team_sizes: tuple[int, ...],
    rollouts: int,
    *,
    greedy: bool,
    about: dict[str, Any],
    folder: Path,
    advance: Callable[[], None] = lambda: None,
) -> dict[float, BySize]:
    """Score a policy with so many of its links lost, from the same starts, and write that beside the run."""
    actor, arena = talking_actor(policy), CompiledArena(policy.task.with_slots(max(team_sizes)))
    policy.experiment.rosters.refuse_sealed(team_sizes)
    if isinstance(actor, TalkingActor):
        rounds, width, renewal = actor.rounds.count, actor.memory.width, actor.loss.renewal
    else:
        rounds, width, renewal = 1, actor.told_width, LinkLoss().renewal
    found = {
        share: scored_by_size(
            arena,
            team_of(actor, greedy=greedy, loss=LinkLoss(share, renewal)),
            team_sizes,
            rollouts,
            advance,
        )
        for share in shares
    }
    content = {
        **about,
        "rounds": rounds,
        "width": width,
        "renewal": renewal,
        "rollouts": rollouts,
        "actions": "greedy" if greedy else "sampled",
        "by_share": {f"{share:g}": plain_by_size(by_size) for share, by_size in found.items()},
    }
    write_beside(folder, FILE, content)
    return {share: returns_by_size(by_size) for share, by_size in found.items()}


def scored_by_size(
    arena: CompiledArena,
    team: Team,
    team_sizes: tuple[int, ...],
    rollouts: int,
    advance: Callable[[], None],
) -> dict[int, SizeScores]:
    """What a team that sends messages is worth at each size, and how many that takes."""
    found = {}
    for size in team_sizes:
        found[size] = score(arena, team, size, rollouts, looking_at_messages(team, scores_of))
        advance()
    return found


def write_beside(folder: Path, name: str, content: dict[str, Any]) -> None:
    """Such a file, in the folder of a run or in one of its own."""
    with explained(f"writing to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        refuse_oddities(folder)
        with one_owner(folder):
            write_checked(folder / name, content)


def returns_by_size(found: dict[int, SizeScores]) -> BySize:
    return {size: np.asarray(scores.returns) for size, scores in found.items()}


def plain_by_size(found: dict[int, SizeScores]) -> dict[str, Any]:
    return {str(size): _plain(scores) for size, scores in found.items()}


def read_losses(folder: Path) -> dict[str, Any]:
    """What such an evaluation left, if it is still what was written."""
    return read_checked(folder / FILE, NAMES)


def _plain(scores: SizeScores) -> dict[str, Any]:
    return {
        "returns": np.asarray(scores.returns).tolist(),
        MESSAGES: float(np.mean(scores.measures[MESSAGES])),
    }
