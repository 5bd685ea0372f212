"""A trial: what it may cost, what is known of it, and its folder, as worker and search both see it."""

from dataclasses import dataclass, fields
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import tyro

from pc3d.experiment.experiment import Experiment
from pc3d.presets.experiment_file import read_experiment, to_plain
from pc3d.runs.line_contract import newest_metrics, read_evaluations
from pc3d.system.bounds import within
from pc3d.system.checked_json import CHECKSUM, read_checked, write_checked
from pc3d.system.errors import BadInput, DamagedFile
from pc3d.system.plain import from_plain

FIRST_SEED = 1000  # final runs have the seeds from 0 on: what was searched for must hold for others
REPORTS = 10  # evaluations in a training, each a chance to give a trial up


@dataclass(frozen=True)
class Budget:
    """What a trial costs; the same for all trials of a search."""

    episodes: int
    seed_count: Annotated[int, tyro.conf.arg(name="seeds")]
    rollouts: int

    def __post_init__(self) -> None:
        within("episodes", self.episodes, 1, 10**9)
        within("seeds", self.seed_count, 1, 1000)
        within("rollouts", self.rollouts, 1, 10**6)

    @property
    def words(self) -> tuple[str, ...]:
        """As options of `pc3d tune trial`."""
        amounts = {"episodes": self.episodes, "seeds": self.seed_count, "rollouts": self.rollouts}
        return tuple(word for name, amount in amounts.items() for word in (f"--{name}", str(amount)))

    @property
    def seeds(self) -> range:
        return range(FIRST_SEED, FIRST_SEED + self.seed_count)

    @property
    def evaluate_every(self) -> int:
        """Episodes between two evaluations on the way."""
        return -(-self.episodes // REPORTS)

    @property
    def last_step(self) -> int:
        """The report that belongs to the last seed's final policy."""
        return (self.seed_count - 1) * REPORTS + self.episodes // self.evaluate_every


@dataclass(frozen=True)
class Score:
    """Mean returns of a trial's final policies: over rollouts, then sizes, then seeds."""

    train: float
    validation: float


@dataclass(frozen=True)
class TrialRecord:
    """A trial as the storage knows it: what it tried, how far it is, and what it came to."""

    number: int
    state: str
    """waiting, running, done, given up or failed."""
    settings: dict[str, Any]
    score: Score | None
    note: str

    @property
    def ended(self) -> bool:
        return self.state not in ("waiting", "running")

    @property
    def validation(self) -> float:
        """By which trials are compared; one without a score is below all others."""
        return float("-inf") if self.score is None else self.score.validation


def best_of(records: list[TrialRecord]) -> TrialRecord | None:
    """The trial with the highest validation return; the earlier one of two that are equal."""
    scored = [record for record in records if record.score is not None]
    return max(scored, key=lambda record: record.validation, default=None)


class TrialFolder:
    """Where a trial's files are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.preset = path / "preset.toml"
        self.own_task = path / "own_task.json"
        self.score_file = path / "score.json"
        self.errors = path / "errors.log"

    def seed(self, seed: int) -> Path:
        return self.path / f"seed-{seed}"

    def write_own_task(self, experiment: Experiment) -> None:
        """For a trial on an own task: the sealed experiment that its preset is applied to."""
        write_checked(self.own_task, {"experiment": to_plain(experiment)})

    def read_own_task(self) -> Experiment:
        content = read_checked(self.own_task, ("experiment",))
        experiment = read_experiment(content.get("experiment"), str(self.own_task))
        if not experiment.rosters.sealed_largest:
            raise BadInput(f"{self.own_task} is damaged: its team sizes are not sealed")
        return experiment

    def score(self) -> Score | None:
        """What the trial came to, if it came to an end."""
        if not self.score_file.exists():
            return None
        content = read_checked(self.score_file, [field.name for field in fields(Score)])
        content.pop(CHECKSUM, None)
        return from_plain(Score, content, str(self.score_file))

    def reports(self, budget: Budget, validation_sizes: tuple[int, ...]) -> dict[int, float]:
        """How it has been doing on validation sizes; equal steps of two trials can be compared.

        A later seed's evaluations are averaged with the last of each seed before it.
        """
        found: dict[int, float] = {}
        finished: list[float] = []
        for place, seed in enumerate(budget.seeds):
            returns: list[float] = []
            for line in read_evaluations(self.seed(seed) / "evaluations.jsonl"):
                returns.append(_mean_at(validation_sizes, line["return_by_size"], self.seed(seed)))
                step = place * REPORTS + line["episodes"] // budget.evaluate_every
                found[step] = mean([*finished, returns[-1]])
            finished += returns[-1:]
        return found

    def episodes(self, budget: Budget) -> int:
        """Training episodes played, over all seeds."""
        lines = [newest_metrics(self.seed(seed) / "metrics.jsonl") for seed in budget.seeds]
        return sum(line["episodes"] for line in lines if line)


def _mean_at(sizes: tuple[int, ...], returns: dict[str, float], place: Path) -> float:
    try:
        return mean(returns[str(size)] for size in sizes)
    except KeyError as lacking:
        raise DamagedFile(f"the evaluations in {place} lack team size {lacking}") from None
