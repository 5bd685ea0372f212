"""Keeping finished runs as results: everything a report needs, small enough to publish."""

import shutil
from collections.abc import Iterable, Iterator
from itertools import chain, groupby, pairwise
from pathlib import Path

from pc3d.evaluation.changing.read import read_changing
from pc3d.evaluation.evaluation_file import FILES_OF_LESS_SAID, FILES_OF_ROSTERS, ON_ORIGINALS, file_names
from pc3d.evaluation.less_said import read_less_said
from pc3d.evaluation.unlike import file_of, read_mix_scores
from pc3d.runs.done_file import POLICY, read_done, write_recorded
from pc3d.runs.line_contract import read_metrics
from pc3d.runs.metrics import Line, as_bytes, episodes_in
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import DamagedFile, Pc3dError
from pc3d.system.files import LARGEST_DIGESTED, explained, read_bytes, write_atomically
from pc3d.tasks.task import WORLDS

LINES_PER_STAGE = 60  # as many as a learning curve can show
LINES_OF_A_TRIAL = 6  # whose curve nobody draws
DIGITS = 6  # more than a curve can show, and a quarter less to keep
SCORED = tuple(
    chain.from_iterable(
        file_names(suffix) for suffix in ("", ON_ORIGINALS, *(f"-{world}" for world in WORLDS))
    )
)
COPIED = ("experiment.json", "clock.jsonl", "evaluations.jsonl", "context.json", *SCORED)
POSITIONS = ("update", "episodes", "stage")


def record_run(
    run: RunFolder,
    target: Path,
    *,
    with_policy: bool = False,
    with_replays: bool = False,
    lines_per_stage: int = LINES_PER_STAGE,
) -> None:
    """Copy what a report needs, metrics thinned out; the policy and the replays only if asked for.

    An older record gives way only when the new one is whole. done.json has the digests of the whole files
    and of the recorded ones.
    """
    run.check_whole()
    with explained(f"writing to {target}"):
        new, old = (target.with_name(f".{target.name}.{state}") for state in ("new", "old"))
        if old.exists() and not target.exists():  # a power cut between the two renamings below
            old.rename(target)
        for left in (new, old):  # what an interrupted recording left
            shutil.rmtree(left, ignore_errors=True)
        new.mkdir(parents=True)
        try:
            _write_record(run, new, with_policy, with_replays, lines_per_stage)
            _keep_scores(target, run, new)
        except (Pc3dError, OSError):  # what is half written is of no use to anybody
            shutil.rmtree(new, ignore_errors=True)
            raise
        if target.exists():
            target.rename(old)  # one of an older policy or evaluation
        new.rename(target)
        shutil.rmtree(old, ignore_errors=True)


def _write_record(
    run: RunFolder, new: Path, with_policy: bool, with_replays: bool, lines_per_stage: int
) -> None:
    for read in (read_changing, read_mix_scores, read_less_said):  # no digest holds these to what was written
        list(read(run.path))
    _copy(run.path, new, (*COPIED, *_scored_in(run.path)))
    if not run.metrics.exists():
        raise DamagedFile(f"{run.metrics} is missing: take it from a backup")
    lines = b"".join(as_bytes(line) for line in thinned(read_metrics(run.metrics), lines_per_stage))
    write_atomically(new / run.metrics.name, lines)
    if with_policy:
        write_atomically(new / run.final.name, read_bytes(run.final, LARGEST_DIGESTED))
    if with_replays:
        (new / "replays").mkdir()
        for replay in sorted((run.path / "replays").glob("size-*.json")):
            write_atomically(new / "replays" / replay.name, read_bytes(replay))
    write_recorded(new, run.path)


def _scored_in(folder: Path) -> list[str]:
    """What the policy was scored by beside the usual scores, where that was done."""
    patterns = (file_of("*"), FILES_OF_ROSTERS)  # of mixes, and of teams that change
    found = (path.name for pattern in patterns for path in sorted(folder.glob(pattern)))
    return [*FILES_OF_LESS_SAID.values(), *found]


def _keep_scores(old: Path, run: RunFolder, new: Path) -> None:
    """What the older record was scored by since it was made stays, as long as the policy is the same."""
    try:
        done = [read_done(folder) for folder in (old, run.path)]
    except DamagedFile:  # a record that cannot be read gives way
        return
    policies = {each.trained.get(POLICY) if each else None for each in done}
    if len(policies) == 1 and None not in policies:
        _copy(old, new, (name for name in (*SCORED, *_scored_in(old)) if not (new / name).exists()))


def _copy(folder: Path, target: Path, names: Iterable[str]) -> None:
    for name in names:
        if (folder / name).exists():
            write_atomically(target / name, read_bytes(folder / name))


def thinned(lines: Iterable[Line], per_stage: int = LINES_PER_STAGE) -> Iterator[Line]:
    """At most so many lines for each curriculum stage, each the mean of its neighbours."""
    for _, stage in groupby(lines, key=lambda line: line["stage"]):
        together = list(stage)
        count = min(per_stage, len(together))
        edges = [len(together) * place // count for place in range(count + 1)]
        for first, end in pairwise(edges):
            yield _merged(together[first:end])


def _merged(lines: list[Line]) -> Line:
    """The mean of some lines, each weighing as many episodes as it stands for."""
    names = dict.fromkeys(name for line in lines for name in line)  # not every update has all answers
    having = {name: [line for line in lines if name in line] for name in names}
    means = {
        name: _mean((line[name] for line in found), [episodes_in(line) for line in found])
        for name, found in having.items()
        if name not in (*POSITIONS, "return_by_size")
    }
    positions = {name: lines[-1][name] for name in POSITIONS}
    return {**means, **positions, "return_by_size": _merged_returns(lines)}


def _merged_returns(lines: list[Line]) -> dict[str, tuple[int, float]]:
    sizes = sorted({size for line in lines for size in line["return_by_size"]}, key=int)
    merged = {}
    for size in sizes:
        pairs = [line["return_by_size"][size] for line in lines if size in line["return_by_size"]]
        counts = [count for count, _ in pairs]
        merged[size] = sum(counts), _mean((mean for _, mean in pairs), counts)
    return merged


def _mean(values: Iterable[float], weights: list[int]) -> float:
    mean = sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)
    return float(f"{mean:.{DIGITS}g}")
