"""Team sizes of an own task: from a small TOML file, or from a few numbers and a curriculum that follows."""

from dataclasses import dataclass
from pathlib import Path

from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.system.plain import from_plain
from pc3d.system.toml_file import read_toml

LAST_STAGE_SHARE = 0.5


@dataclass(frozen=True)
class RosterFile:
    """What such a file holds."""

    train: tuple[int, ...]
    validation: tuple[int, ...] = ()
    test: tuple[int, ...] = ()
    stages: tuple[Stage, ...] = ()


def read_rosters(path: Path) -> tuple[Rosters, Curriculum]:
    """The splits in a file, and its curriculum, or the usual one if it has no stages."""
    found = from_plain(RosterFile, read_toml(path, "file of team sizes"), str(path))
    rosters = Rosters(found.train, found.validation, found.test)
    curriculum = Curriculum(found.stages) if found.stages else growing_curriculum(rosters.train)
    curriculum.check_against(rosters)
    return rosters, curriculum


def growing_curriculum(train: tuple[int, ...]) -> Curriculum:
    """One stage per training size, each adding the next larger one, all its sizes equally likely.

    The last stage has half of the episodes; the others share the rest equally.
    """
    sizes = tuple(sorted(train))
    if len(sizes) == 1:
        return Curriculum((Stage(1.0, sizes, (1.0,)),))
    earlier = (1 - LAST_STAGE_SHARE) / (len(sizes) - 1)
    stages = [
        Stage(LAST_STAGE_SHARE if count == len(sizes) else earlier, sizes[:count], (1 / count,) * count)
        for count in range(1, len(sizes) + 1)
    ]
    return Curriculum(tuple(stages))
