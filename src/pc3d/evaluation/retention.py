"""What a student keeps of its teacher's return, where a run's checkpoint still holds the teacher."""

from dataclasses import dataclass

import numpy as np

from pc3d.evaluation.references import reference_teams
from pc3d.learners.registry import algorithm_of
from pc3d.play.actor_team import ActorTeam
from pc3d.play.arena import Arena
from pc3d.play.scores import returns_by_size
from pc3d.play.team import Team
from pc3d.runs.policy import load_policy
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import BadInput


@dataclass(frozen=True)
class Retention:
    """Mean returns of one team size, all from the same starts."""

    student: float
    teacher: float
    random: float

    @property
    def ratio(self) -> float:
        """Of what the teacher has more than random play, the part that its student has; NaN if it has none.

        Returns can be negative, so their own ratio would say nothing.
        """
        gained = self.teacher - self.random
        return (self.student - self.random) / gained if gained > 0 else float("nan")


def retention(
    run: RunFolder, arena: Arena, team_sizes: tuple[int, ...], rollouts: int = 100
) -> dict[int, Retention]:
    """By team size; test sizes as for all scores, when all is decided."""
    policy = load_policy(run.path)
    policy.experiment.rosters.refuse_sealed(team_sizes)
    teams: dict[str, Team] = {
        "student": ActorTeam(policy.actor),
        "teacher": _teacher(run, arena),
        "random": reference_teams(arena.game)["random"],
    }
    returns = {name: returns_by_size(arena, team, team_sizes, rollouts) for name, team in teams.items()}
    return {
        size: Retention(**{name: float(np.mean(by_size[size])) for name, by_size in returns.items()})
        for size in team_sizes
    }


def _teacher(run: RunFolder, arena: Arena) -> Team:
    experiment = run.experiment()
    algorithm = algorithm_of(experiment)
    if experiment.algorithm.insight is None:
        raise BadInput(f"{experiment.method} has no teacher that plays: --teacher is for ptde and ctds")
    found = run.newest_checkpoint(algorithm.fresh(experiment, arena.game), experiment)
    if found is None:
        raise BadInput(f"{run.path} has no checkpoint, and only one holds the teacher")
    teacher = algorithm.privileged_team(experiment, found[0])
    assert teacher is not None, "what is told of the team has somebody to be told"
    return teacher
