"""The numbers that sentences tell of: returns by split and size, verdicts, contexts, curves and clocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from pc3d.experiment.methods import METHODS, OURS
from pc3d.report.names import SPLITS, method_title, task_title
from pc3d.report.paper_numbers import MAIN, published_returns
from pc3d.report.runs import Runs
from pc3d.report.story import BACKBONE
from pc3d.report.tables.comparisons import claims_table
from pc3d.report.tables.context import Context, contexts, means_over_sizes
from pc3d.report.tables.table import NOTHING, Cell, Table
from pc3d.report.tables.training import means_by_stage, measured_seconds_per_update

RIVALS = tuple(method for method in MAIN if method != OURS)  # in the paper's main table
BySeed = Float[np.ndarray, " seed"]


def of_the_paper(task: str) -> list[str]:
    """The methods that the paper has on a task."""
    return [method for method in METHODS if published_returns(method, task, SPLITS[0])]


class NotKnown(Exception):
    """These runs do not tell, so the sentence is left out."""


@dataclass(frozen=True)
class Facts:
    """What the runs give; whatever they do not have raises NotKnown."""

    runs: Runs

    def methods(self, task: str) -> list[str]:
        """Those with scores, ours first."""
        self._refuse_unknown(task)
        found = [method for method in self.runs.methods(task) if self.runs.scored(task, method)]
        return sorted(found, key=lambda method: method != OURS)

    def seeds(self, task: str, method: str) -> int:
        self._refuse_unknown(task)
        return len(self.runs.scored(task, method))

    @cached_property
    def whole_studies(self) -> list[str]:
        """The tasks on which the methods of the paper's main table have seeds enough to be compared."""
        return [
            task
            for task in self.runs.tasks
            if of_the_paper(task) and all(len(self.runs.scored(task, method)) > 1 for method in MAIN)
        ]

    def sizes(self, task: str, split: str) -> tuple[int, ...]:
        self._refuse_unknown(task)
        found = self.runs.sizes(task, split)
        if not found:
            raise NotKnown
        return found

    def returns(self, task: str, method: str, sizes: tuple[int, ...]) -> BySeed:
        """Mean returns over these sizes, as the tables show them."""
        by_size = self.runs.matrix(task, method, sizes)
        if not by_size.size:
            raise NotKnown
        return by_size.mean(axis=1) * task_title(task).scale

    def of_split(self, task: str, method: str, split: str) -> BySeed:
        return self.returns(task, method, self.sizes(task, split))

    def mean(self, task: str, method: str, split: str) -> float:
        return float(self.of_split(task, method, split).mean())

    def at_size(self, task: str, method: str, size: int) -> float:
        return float(self.returns(task, method, (size,)).mean())

    def printed(self, task: str, method: str, split: str) -> float:
        found = published_returns(method, task, split)
        if found is None:
            raise NotKnown
        return found.mean

    def leads(self, task: str, rival: str) -> dict[int, float]:
        """Our mean return minus a rival's at each team size."""
        self._refuse_unknown(task)
        return {
            size: self.at_size(task, OURS, size) - self.at_size(task, rival, size)
            for size in self.runs.rosters(task).all
        }

    def kept(self, task: str, split: str, value: float) -> float:
        """The share of our lead over the backbone that another return has."""
        theirs = self.mean(task, BACKBONE, split)
        lead = self.mean(task, OURS, split) - theirs
        if lead <= 0:
            raise NotKnown  # nothing to have a share of
        return (value - theirs) / lead

    @cached_property
    def _claims(self) -> dict[str, Table]:
        found = {task: claims_table(self.runs, task) for task in self.runs.tasks}
        return {task: table for task, table in found.items() if table}

    def verdicts(self, task: str, first: str, second: str) -> dict[str, str]:
        """The words of the table of claims by split, without p; of one seed only the mean can speak."""
        return {
            split: self._tested(task, first, second, split)
            or ("higher" if self.mean(task, first, split) > self.mean(task, second, split) else "lower")
            for split in SPLITS
        }

    def _tested(self, task: str, first: str, second: str, split: str) -> str | None:
        title = f"{method_title(first)} against {method_title(second)}"
        rows = [row for row in self._judged(task) if row[0].text == title]
        if not rows:
            return None
        word = rows[0][1 + SPLITS.index(split)].text.split(", p")[0]
        return None if word == NOTHING else word

    def comparisons(self, task: str) -> int:
        """How many of them Holm's correction is for."""
        if not self._claims:
            raise NotKnown
        return sum(cell.text != NOTHING for row in self._judged(task) for cell in row[1:])

    def _judged(self, task: str) -> tuple[tuple[Cell, ...], ...]:
        return self._claims[task].rows if task in self._claims else ()

    @cached_property
    def _contexts(self) -> dict[str, dict[str, list[Context]]]:
        return {task: contexts(self.runs, task) for task in self.runs.tasks}

    def with_contexts(self, task: str) -> list[str]:
        """The methods whose contexts were measured."""
        return list(self._contexts.get(task, {}))

    def contexts(self, task: str, method: str, split: str, name: str) -> BySeed:
        """One measure of a method's contexts."""
        several = self._contexts.get(task, {}).get(method, [])
        by_seed = means_over_sizes(several, self.sizes(task, split), name)
        if by_seed is None:
            raise NotKnown
        return by_seed

    def context(self, task: str, method: str, split: str, name: str) -> float:
        return float(self.contexts(task, method, split, name).mean())

    def shut(self, task: str, method: str, split: str) -> float:
        """The mean return with the gate forced shut in play."""
        return self.context(task, method, split, "return_gate_off") * task_title(task).scale

    def by_stage(self, task: str, method: str, name: str = "return") -> dict[int, float]:
        """The mean of a training measure in each stage of the curriculum."""
        self._refuse_unknown(task)
        histories = [means_by_stage(run) for run in self.runs.finished(task, method)]
        if not histories or not all(histories):
            raise NotKnown
        scale = task_title(task).scale if name == "return" else 1.0
        found = {
            stage: [history[stage][name] for history in histories if name in history.get(stage, {})]
            for stage in histories[0]
        }
        if not all(len(values) == len(histories) for values in found.values()):
            raise NotKnown
        return {stage: float(np.mean(values)) * scale for stage, values in found.items()}

    def updates(self, task: str, method: str) -> int:
        self._refuse_unknown(task)
        for run in self.runs.finished(task, method):
            return -(-run.experiment.episodes // run.experiment.episodes_per_update)
        raise NotKnown

    def seconds(self, task: str, method: str) -> float:
        """An update by the runs' own clocks."""
        self._refuse_unknown(task)
        clocked = [measured_seconds_per_update(run) for run in self.runs.finished(task, method)]
        known = [each for each in clocked if each is not None]
        if not known:
            raise NotKnown
        return float(np.median(known))

    def _refuse_unknown(self, task: str) -> None:
        if task not in self.runs.tasks:
            raise NotKnown
