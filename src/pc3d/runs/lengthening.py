"""A run that gets longer: what is well defined of that, and what it leaves behind."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

from pc3d.experiment.experiment import Experiment
from pc3d.runs import done_file
from pc3d.system.errors import BadInput
from pc3d.system.files import LARGEST_DIGESTED, read_bytes, sync, write_atomically

# What was made of the policy that there was; done.json first: without it, the run is merely unfinished.
OUTCOME = (done_file.NAME, done_file.POLICY, "scores*.csv", "evaluation*.json", "context.json")
# All that the run needs to be what it was, in a folder of its own.
WHOLE = (*done_file.BELONGING, *OUTCOME, "checkpoint/*.safetensors", "replay/*.safetensors", "replays/*.json")


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


def kept_in(folder: Path, episodes: int) -> Path:
    """Where a run of so many episodes is while it gets longer."""
    return folder / f"before-{episodes}"


def is_kept(folder: Path) -> bool:
    """Whether a folder is where a finished run is kept while it gets longer, and not a run among others."""
    named_so = re.fullmatch("before-[0-9]+", folder.name)
    return named_so is not None and (folder.parent / done_file.EXPERIMENT).exists()


def keep_finished(folder: Path, episodes: int) -> Path:
    """Copy a finished run, whole or not at all, to where it is kept: who made it longer may not mean it."""
    kept = kept_in(folder, episodes)
    new = kept.with_name(f".{kept.name}.new")
    for left in (new, kept):  # by one that was interrupted
        shutil.rmtree(left, ignore_errors=True)
    new.mkdir()
    for path in sorted({path for pattern in WHOLE for path in folder.glob(pattern)}):
        target = new / path.relative_to(folder)
        target.parent.mkdir(exist_ok=True)
        write_atomically(target, read_bytes(path, LARGEST_DIGESTED))
    new.rename(kept)
    sync(folder)
    return kept


def forget_finished(folder: Path, longer: Experiment) -> None:
    """Remove what was kept of the shorter runs, once the longer one is finished."""
    for episodes in longer.lengthened_from:
        shutil.rmtree(kept_in(folder, episodes), ignore_errors=True)


def forget_outcome(folder: Path) -> None:
    """Remove what came of a run that goes on: the new policy must not have the scores of the old one."""
    for pattern in OUTCOME:
        for path in sorted(folder.glob(pattern)):
            path.unlink()
