"""Evaluating a policy in teams that change while they play, and the file that this leaves."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp

from pc3d.evaluation.changing.context_lag import context_lag
from pc3d.evaluation.changing.summary import mixture_of, regret_of, summary_of, summary_of_one_change
from pc3d.evaluation.changing.twins import (
    LATER,
    Rewards,
    Twins,
    play_twins,
    rewards_of,
    steady_rota,
    twin_rotas,
)
from pc3d.evaluation.evaluation_file import file_of_roster
from pc3d.evaluation.references import reference_teams
from pc3d.evaluation.run import EvaluationSettings, about_policy
from pc3d.experiment.roster_check import checked_limits
from pc3d.experiment.roster_process import Limits, Planned, RosterProcess, process_to_plain
from pc3d.play.arena import Arena
from pc3d.play.rota import Rota
from pc3d.play.starts import rollout_keys
from pc3d.play.talking_team import team_of
from pc3d.play.team import Team
from pc3d.runs.policy import Policy
from pc3d.system.checked_json import read_checked, write_checked
from pc3d.system.errors import BadInput
from pc3d.system.files import explained, one_owner, refuse_oddities

NAMES = (
    *("format", "task", "method", "seed", "policy_sha256", "return_definition", "starts_seed"),
    *("roster", "process", "rules", "horizon", "rollouts", "reference_rollouts", "actions", "by_size"),
)


@dataclass(frozen=True)
class Changing:
    """How a team is to change, and what that is called."""

    label: str
    process: RosterProcess
    reference_rollouts: int = 8

    @property
    def file(self) -> str:
        return file_of_roster(self.label)

    @property
    def once(self) -> bool:
        """Whether there is one change that all else can be aligned at."""
        return isinstance(self.process, Planned) and len(self.process.wanted()) == 1


def fitting_sizes(
    policy: Policy, arena: Arena, changing: Changing, sizes: tuple[int, ...], *, named: bool
) -> dict[int, Limits]:
    """The sizes at which the process changes something, and within what; a named one must fit."""
    found, game, refusal = {}, arena.game, None
    for size in sizes:
        try:
            fewest, horizon = game.fewest_present, game.horizon
            limits = checked_limits(changing.process, policy.experiment.rosters, size, fewest, horizon)
            game.with_slots(limits.slots)
        except BadInput as error:
            refusal = error
            if named:
                raise
            continue
        if limits != Limits(size, size, size):
            found[size] = limits
    if not found:
        raise refusal or BadInput(f"the roster {changing.label} changes nothing at any of these team sizes")
    return found


def evaluate_changes(
    policy: Policy,
    arena: Arena,
    changing: Changing,
    sizes: dict[int, Limits],
    settings: EvaluationSettings,
    folder: Path,
    advance: Callable[[], None],
) -> dict[int, dict[str, Any]]:
    """Play the twins of every size and write what they say; `advance` counts the sizes."""
    team = team_of(policy.actor, greedy=settings.greedy)
    wide = arena.with_roster(changing.process).with_slots(max(limits.slots for limits in sizes.values()))
    by_size = {}
    for size, limits in sizes.items():
        twins = play_twins(wide, team, size, settings.rollouts)
        by_size[size] = {
            "split": policy.experiment.rosters.split_of(size),
            **summary_of(twins),
            **(
                _of_one_change(policy, wide, twins, limits, changing, settings)
                if changing.once
                else _of_many_changes(wide, team, twins, limits)
            ),
        }
        advance()
    about = _about(policy, arena, changing, settings)
    with explained(f"writing to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        refuse_oddities(folder)
        with one_owner(folder):
            plain = {str(size): summary for size, summary in by_size.items()}
            write_checked(folder / changing.file, {**about, "by_size": plain})
    return by_size


def read_changes(file: Path) -> dict[str, Any]:
    """What such an evaluation left, if it is still what was written."""
    return read_checked(file, NAMES)


def _of_one_change(
    policy: Policy,
    arena: Arena,
    twins: Twins,
    limits: Limits,
    changing: Changing,
    settings: EvaluationSettings,
) -> dict[str, Any]:
    found, networks = summary_of_one_change(twins), policy.networks
    lag = context_lag(arena, networks, twins, settings.context_rollouts, greedy=settings.greedy)
    if lag is not None:
        found["context"] = lag
    return {**found, **_regret(arena, twins, limits, changing.reference_rollouts)}


def _regret(arena: Arena, twins: Twins, limits: Limits, rollouts: int) -> dict[str, Any]:
    rollouts = min(rollouts, len(twins.present))
    if rollouts == 0 or "scripted" not in reference_teams(arena.game):
        return {}
    # Scripts take their time: no wider than need be, and a few of the rollouts.
    narrow = arena.with_slots(limits.slots)
    teams, keys = reference_teams(narrow.game), rollout_keys(twins.team_size, rollouts)
    later = twin_rotas(Rota.of(jnp.asarray(twins.present)[:rollouts, :, : limits.slots]))[LATER]
    scripted, random = (
        rewards_of(narrow, teams[name], keys, twins.team_size, later) for name in ("scripted", "random")
    )
    return regret_of(twins, scripted, random)


def _of_many_changes(arena: Arena, team: Team, twins: Twins, limits: Limits) -> dict[str, Any]:
    keys, constant = rollout_keys(twins.team_size, len(twins.present)), dict[int, Rewards]()
    for size in range(limits.smallest, limits.largest + 1):
        rota = steady_rota(twins.present.shape, size)
        constant[size] = rewards_of(arena, team, keys, twins.team_size, rota)
    return mixture_of(twins, constant)


def _about(policy: Policy, arena: Arena, changing: Changing, settings: EvaluationSettings) -> dict[str, Any]:
    """What was evaluated, and by which rules."""
    return {
        **about_policy(policy, arena.game),
        "roster": changing.label,
        "process": process_to_plain(changing.process),
        "rules": asdict(policy.experiment.rules),
        "horizon": arena.game.horizon,
        "rollouts": settings.rollouts,
        "reference_rollouts": changing.reference_rollouts,
        "actions": settings.actions,
    }
