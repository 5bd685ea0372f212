"""Does a roster process fit the teams it is meant for? What does not is a sentence."""

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.roster_process import Limits, RosterProcess
from pc3d.experiment.rosters import Rosters
from pc3d.system.errors import BadInput


def check_training(experiment: Experiment, fewest: int, horizon: int) -> None:
    """Refuse a roster that training's teams do not fit, or that leads beyond the sizes of training."""
    rosters, largest = experiment.rosters, max(experiment.rosters.train)
    for size in sorted({size for stage in experiment.curriculum.stages for size in stage.team_sizes}):
        limits = checked_limits(experiment.roster, rosters, size, fewest, horizon)
        for passed in range(limits.smallest, limits.largest + 1):
            if passed > largest or passed in rosters.test:
                raise BadInput(
                    f"this roster leads a team of {size} agents through size {passed}, and training may pass "
                    f"through no test size and none above {largest}"
                )
        if limits.slots > rosters.largest:
            raise BadInput(
                f"this roster needs {limits.slots} slots for a team of {size} agents, and training has "
                f"{rosters.largest}"
            )


def checked_limits(
    roster: RosterProcess, rosters: Rosters, team_size: int, fewest: int, horizon: int
) -> Limits:
    """Within what a team of this size stays, if it may be played at all."""
    roster.check(team_size, fewest, horizon)
    limits = roster.limits(team_size, fewest)
    rosters.refuse_sealed(range(limits.smallest, limits.largest + 1))
    return limits
