"""A run that gets longer: what is well defined of that, and what it leaves behind."""

from dataclasses import replace
from pathlib import Path

from pc3d.experiment.experiment import Experiment
from pc3d.runs import done_file
from pc3d.system.errors import BadInput

# What was made of the policy that there was; done.json first: without it, the run is merely unfinished.
OUTCOME = (done_file.NAME, done_file.POLICY, "scores*.csv", "evaluation*.json", "context.json")


def lengthened(found: Experiment, asked: Experiment, folder: Path) -> Experiment | None:
    """The experiment of a run that gets longer: from here on, stages and rates are those of the longer run.

    None if what is asked for is not the same with more episodes.
    """
    same = replace(asked, episodes=found.episodes, lengthened_from=found.lengthened_from)
    if asked.episodes <= found.episodes or same != found:
        return None
    if found.episodes % found.episodes_per_update:
        raise BadInput(
            f"{folder} cannot get longer: its {found.episodes} episodes are no multiple of the "
            f"{found.episodes_per_update} of an update, so a longer run's last update would be another"
        )
    return replace(asked, lengthened_from=(*found.lengthened_from, found.episodes))


def is_earlier(of: Experiment, experiment: Experiment) -> bool:
    """Whether an experiment is this one before it got longer."""
    lengths = (*experiment.lengthened_from, experiment.episodes)
    return any(
        of == replace(experiment, episodes=length, lengthened_from=lengths[:place])
        for place, length in enumerate(lengths)
    )


def forget_outcome(folder: Path) -> None:
    """Remove what came of a run that goes on: the new policy must not have the scores of the old one."""
    for pattern in OUTCOME:
        for path in sorted(folder.glob(pattern)):
            path.unlink()
