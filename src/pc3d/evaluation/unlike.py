"""Scoring a policy in teams of unlike agents, mix by mix, and the file that each mix leaves."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from pc3d.evaluation.run import EvaluationSettings, about_policy
from pc3d.experiment.mixes import Cast, Mix, Mixes
from pc3d.experiment.mixes_file import mixes_to_plain
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import score
from pc3d.play.talking_team import team_of
from pc3d.runs.policy import Policy
from pc3d.system.checked_json import read_checked, write_checked
from pc3d.system.errors import DamagedFile
from pc3d.system.files import explained, one_owner, refuse_oddities
from pc3d.tasks.make import playable

NAMES = (
    *("format", "task", "method", "seed", "policy_sha256", "return_definition", "starts_seed"),
    *("mix", "split", "kinds", "amounts", "seen", "rules", "horizon", "rollouts", "actions", "by_size"),
)


@dataclass(frozen=True)
class MixScores:
    """What a policy brings in teams of one mix."""

    mix: str
    split: str
    returns: dict[int, Float[np.ndarray, " rollout"]]
    """By team size."""


def file_of(mix: str) -> str:
    return f"mix-{mix}.json"


def evaluate_mix(
    policy: Policy,
    mix: Mix,
    team_sizes: tuple[int, ...],
    settings: EvaluationSettings,
    folder: Path,
    advance: Callable[[], None] = lambda: None,
) -> MixScores:
    """Play one mix at every size and write its returns; `advance` counts the sizes."""
    experiment = policy.experiment
    experiment.rosters.refuse_sealed(team_sizes)
    cast = Cast((mix,), experiment.mixes.seen)
    arena = CompiledArena(playable(policy.task).with_cast(cast).with_slots(max(team_sizes)))
    team, returns = team_of(policy.actor, greedy=settings.greedy), {}
    for size in team_sizes:
        returns[size] = np.asarray(score(arena, team, size, settings.rollouts).returns)
        advance()
    found = MixScores(mix.name, experiment.mixes.split_of(mix), returns)
    with explained(f"writing to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        refuse_oddities(folder)
        with one_owner(folder):
            write_checked(folder / file_of(mix.name), _content(policy, mix, found, settings))
    return found


def read_mix_scores(folder: Path) -> Iterator[MixScores]:
    """What every mix left in a run's folder, if it is still what was written."""
    for path in sorted(folder.glob(file_of("*"))):
        content = read_checked(path, NAMES)
        try:
            returns = {int(size): np.array(one["returns"], float) for size, one in content["by_size"].items()}
            mix, split = str(content["mix"]), str(content["split"])
        except (AttributeError, KeyError, TypeError, ValueError):
            raise DamagedFile(f"{path} is not what pc3d evaluate --mix writes") from None
        yield MixScores(mix, split, returns)


def _content(policy: Policy, mix: Mix, found: MixScores, settings: EvaluationSettings) -> dict[str, Any]:
    """What was scored and by which rules, with the returns of every rollout."""
    experiment, plain = policy.experiment, mixes_to_plain(Mixes(train=(mix,)))
    greedy = settings.greedy or policy.actor.values_actions
    return {
        **about_policy(policy, policy.task),
        "mix": mix.name,
        "split": found.split,
        "kinds": plain["kinds"],
        "amounts": plain["train"][mix.name],
        "seen": experiment.mixes.seen,
        "rules": asdict(experiment.rules),
        "horizon": policy.task.horizon,
        "rollouts": settings.rollouts,
        "actions": "greedy" if greedy else "sampled",
        "by_size": {
            str(size): {"split": experiment.rosters.split_of(size), "returns": values.tolist()}
            for size, values in found.returns.items()
        },
    }
