"""Team sizes and curricula as people write them on the command line, for every task."""

import re
from dataclasses import replace
from pathlib import Path

from pc3d.cli.team_sizes import parse_team_sizes
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.roster_file import growing_curriculum, read_rosters
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.system.errors import BadInput

OPTIONS = ("--train-sizes", "--validation-sizes", "--test-sizes")
STAGE = re.compile(r"(\d*\.?\d+):(\S+)")
Written = tuple[str | None, ...]  # the sizes of the three splits, as far as they are given


def rosters_from_words(file: Path | None, sizes: Written, stages: str | None) -> tuple[Rosters, Curriculum]:
    """The team sizes of an own task, which has none of its own."""
    if file is None and not sizes[0]:
        raise BadInput(
            "an own task needs its team sizes: --train-sizes 2,4 --validation-sizes 3 --test-sizes 6, "
            "or --rosters FILE"
        )
    return _named(file, sizes, stages, Rosters(train=(1,)))


def with_sizes(experiment: Experiment, file: Path | None, sizes: Written, stages: str | None) -> Experiment:
    """The experiment with other team sizes; a split that is not named keeps those that no other has now."""
    if file is None and not any(sizes) and stages is None:
        return experiment
    rosters, curriculum = _named(file, sizes, stages, experiment.rosters)
    if stages is None and file is None and set(rosters.train) == set(experiment.rosters.train):
        curriculum = experiment.curriculum
    return replace(experiment, rosters=rosters, curriculum=curriculum)


def parse_stages(text: str) -> Curriculum:
    """Such as "0.3:2 0.7:2,4": shares of the episodes, and sizes that are equally likely."""
    found = [STAGE.fullmatch(part) for part in text.split()]
    stages = []
    for match in found:
        if match is None:
            raise BadInput(f'stages are shares and sizes such as "0.3:2 0.7:2,4", not {text!r}')
        sizes = parse_team_sizes(match[2])
        stages.append(Stage(float(match[1]), sizes, (1 / len(sizes),) * len(sizes)))
    return Curriculum(tuple(stages))


def _named(
    file: Path | None, sizes: Written, stages: str | None, usual: Rosters
) -> tuple[Rosters, Curriculum]:
    if file is not None:
        if any(sizes) or stages is not None:
            raise BadInput("give either --rosters FILE or --train-sizes and its like, not both")
        return read_rosters(file)
    named = [None if text is None else parse_team_sizes(text) for text in sizes]
    _refuse_twice(named)
    taken = {size for one in named if one for size in one}
    splits = zip(named, (usual.train, usual.validation, usual.test), strict=True)
    left = [tuple(size for size in old if size not in taken) if one is None else one for one, old in splits]
    if not left[0]:
        raise BadInput("no training size is left: name some with --train-sizes")
    rosters = Rosters(left[0], left[1], left[2])
    curriculum = growing_curriculum(rosters.train) if stages is None else parse_stages(stages)
    curriculum.check_against(rosters)
    return rosters, curriculum


def _refuse_twice(named: list[tuple[int, ...] | None]) -> None:
    owners: dict[int, str] = {}
    for option, sizes in zip(OPTIONS, named, strict=True):
        for size in sizes or ():
            if owners.setdefault(size, option) != option:
                raise BadInput(f"{size} agents are in {owners[size]} and in {option}: leave them out of one")
