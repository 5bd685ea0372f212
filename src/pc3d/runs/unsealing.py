"""A run that tried something out, once that is chosen: the same run with its test sizes.

Sealing takes the test sizes from whoever plays and measures; networks, draws and updates are those of the
open run, to the bit. So nothing has to be trained again to be scored once at sizes that no choice has seen.
"""

import shutil
from dataclasses import replace
from pathlib import Path

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.rosters import Rosters
from pc3d.presets.experiment_file import to_plain
from pc3d.runs.checkpoint import read_file, to_bytes
from pc3d.runs.done_file import BELONGING, EXPERIMENT, POLICY
from pc3d.runs.run_folder import RunFolder, policy_description
from pc3d.system.checked_json import read_checked, write_checked
from pc3d.system.errors import BadInput
from pc3d.system.files import explained, read_bytes, write_atomically

AS_THEY_ARE = set(BELONGING) - {EXPERIMENT, POLICY}


def unsealed(experiment: Experiment, rosters: Rosters) -> Experiment:
    """The experiment with these team sizes, of which it must have all but the test sizes."""
    if not experiment.rosters.sealed_largest:
        raise BadInput("this run is not sealed: it has its test sizes")
    if experiment.mixes:
        raise BadInput("a run with teams of unlike agents cannot be unsealed: train one that is not sealed")
    if rosters.sealed() != experiment.rosters:
        raise BadInput(
            f"the run was sealed with training sizes {experiment.rosters.train}, validation sizes "
            f"{experiment.rosters.validation} and networks for {experiment.rosters.largest} agents, "
            f"which is not so of {rosters.train}, {rosters.validation} and {rosters.test}: "
            "name its own test sizes with --test-sizes"
        )
    return replace(experiment, rosters=rosters)


def unseal(run: RunFolder, target: Path, rosters: Rosters) -> None:
    """Write the finished run anew as one that was never sealed; it has no scores yet."""
    run.check_whole()
    if not run.done:
        raise BadInput(f"{run.path} is not finished: train it to its end first")
    experiment = unsealed(run.experiment(), rosters)
    if target.exists():
        raise BadInput(f"{target} is already there: name another --folder")
    about = read_checked(run.experiment_file, ("experiment", "return_definition", "versions"))
    arrays, _ = read_file(run.final)
    with explained(f"writing to {target}"):
        new = RunFolder(target.with_name(f".{target.name}.new"))
        shutil.rmtree(new.path, ignore_errors=True)  # what an interrupted one left
        new.create()
        for name in sorted(AS_THEY_ARE):
            if (run.path / name).exists():
                write_atomically(new.path / name, read_bytes(run.path / name))
        kept = {name: about[name] for name in ("return_definition", "versions")}
        write_checked(new.experiment_file, {"experiment": to_plain(experiment), **kept})
        description = policy_description(experiment, about["return_definition"])
        write_atomically(new.final, to_bytes(arrays, description))
        new.finish({"episodes": experiment.episodes, "updates": experiment.updates})
        new.path.rename(target)
