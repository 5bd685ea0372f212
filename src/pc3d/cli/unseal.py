"""`pc3d unseal RUN --folder NEW`: a run that tried something out gets its test sizes, once all is chosen."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from pc3d.cli.in_help import Sizes
from pc3d.cli.team_sizes import parse_team_sizes
from pc3d.experiment.rosters import Rosters
from pc3d.runs.run_folder import RunFolder
from pc3d.runs.unsealing import unseal
from pc3d.system.errors import BadInput
from pc3d.tasks.registry import paper_of, papers


@dataclass(frozen=True)
class Command:
    run: tyro.conf.Positional[Path]
    """A finished run that was trained with --sealed."""
    folder: Path
    """Where the run with its test sizes is written; the sealed one stays as it is."""
    test_sizes: Sizes = None
    """Its test sizes, such as 7,8. Those of the paper if not given."""


def run(command: Command) -> int:
    sealed = RunFolder(command.run)
    experiment = sealed.experiment()
    if command.test_sizes is not None:
        sizes = experiment.rosters
        rosters = Rosters(sizes.train, sizes.validation, parse_team_sizes(command.test_sizes))
    elif experiment.task in papers():
        rosters = paper_of(experiment.task).rosters
    else:
        raise BadInput(f"{experiment.task} is a task of your own: name its test sizes with --test-sizes")
    unseal(sealed, command.folder, rosters)
    print(
        f"wrote {command.folder}: the run with test sizes {', '.join(map(str, rosters.test))}; "
        f"score it with pc3d evaluate {command.folder}"
    )
    return 0
