"""Which team sizes there are, and which one an episode gets: the first step of the flow.

Agents are homogeneous, so a roster (the set of agents of an episode) is its size.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import tyro

from pc3d.system.errors import BadInput

SplitName = Literal["train", "validation", "test"]
PRINTED_PRECISION = 1e-3
TEAM_SIZE_STREAM = 0x7EA3


@dataclass(frozen=True)
class Rosters:
    """The admissible team sizes of a task (the paper's set R), split by what they may be used for."""

    train: tuple[int, ...]
    validation: tuple[int, ...] = ()
    test: tuple[int, ...] = ()
    sealed_largest: tyro.conf.Suppress[int] = 0
    """Above 0 where test sizes are sealed: networks fit such teams, but only the sizes above are played."""

    def __post_init__(self) -> None:
        if not self.train:
            raise BadInput("a task needs at least one training team size")
        for split in ("train", "validation", "test"):
            if any(size < 1 for size in getattr(self, split)):
                raise BadInput(f"rosters.{split}: team sizes are at least 1, not {getattr(self, split)}")
        sizes = self.train + self.validation + self.test
        if len(set(sizes)) < len(sizes):
            raise BadInput(
                f"each team size belongs to one split only, but these were given: {sizes}: write "
                "--train-sizes and its like, which take sizes out of the other splits"
            )
        if self.sealed_largest and self.test:
            raise BadInput("sealed rosters have no test sizes")

    @property
    def all(self) -> tuple[int, ...]:
        return tuple(sorted(self.train + self.validation + self.test))

    @property
    def in_words(self) -> str:
        """Each split with its sizes."""
        splits = {"train": self.train, "validation": self.validation, "test": self.test}
        return "; ".join(f"{name} {', '.join(map(str, sizes))}" for name, sizes in splits.items() if sizes)

    @property
    def train_and_validation(self) -> tuple[int, ...]:
        """The sizes that may be looked at while something is being chosen."""
        return tuple(sorted(self.train + self.validation))

    @property
    def largest(self) -> int:
        return max(*self.all, self.sealed_largest)

    def sealed(self) -> Rosters:
        """The same rosters for trying out: of the test sizes, only how wide networks must be is left."""
        return Rosters(self.train, self.validation, sealed_largest=self.largest)

    def refuse_sealed(self, team_sizes: Iterable[int]) -> None:
        """Refuse to play, while something is tried out or with a policy of that, a size not meant for it."""
        sealed = [size for size in team_sizes if self.sealed_largest and size not in self.all]
        if sealed:
            raise BadInput(
                f"team size {sealed[0]} is sealed: this policy was trained to try something out, with sizes "
                f"{', '.join(map(str, self.all))} alone; train one with the same settings that is not sealed"
            )

    def split_of(self, team_size: int) -> SplitName | Literal["other"]:
        """The split a size belongs to; "other" for a size the task can play but the paper does not."""
        if team_size in self.train:
            return "train"
        if team_size in self.validation:
            return "validation"
        return "test" if team_size in self.test else "other"


@dataclass(frozen=True)
class Stage:
    """One stage of a curriculum: its share of the episodes, and the sizes it draws from."""

    fraction: float
    team_sizes: tuple[int, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.team_sizes:
            raise BadInput("curriculum.stages: a stage's team_sizes must name at least one")
        if len(self.team_sizes) != len(self.probabilities):
            raise BadInput(
                "curriculum.stages: a stage needs as many probabilities as team_sizes, "
                f"not {len(self.probabilities)} for {len(self.team_sizes)}"
            )
        if not 0 < self.fraction <= 1:
            raise BadInput(
                f"curriculum.stages: a stage's fraction is above 0 and at most 1, not {self.fraction}"
            )
        positive = all(probability >= 0 for probability in self.probabilities)
        if not positive or abs(sum(self.probabilities) - 1) > PRINTED_PRECISION:
            raise BadInput(
                f"curriculum.stages: a stage's probabilities must sum to 1, but {self.probabilities} do not"
            )

    def __str__(self) -> str:
        """As it is written on a command line, if all its sizes are equally likely."""
        listed = ",".join(map(str, self.team_sizes))
        equal = len(set(self.probabilities)) == 1
        chances = "" if equal else f" by {','.join(f'{one:g}' for one in self.probabilities)}"
        return f"{self.fraction:.3g}:{listed}{chances}"

    @property
    def largest(self) -> int:
        return max(self.team_sizes)

    @property
    def mean(self) -> float:
        """How many agents an episode has on average."""
        return float(np.average(self.team_sizes, weights=self.probabilities))


@dataclass(frozen=True)
class Curriculum:
    """The stages of a training run, in order (the paper's table of training curricula)."""

    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        total = sum(stage.fraction for stage in self.stages)
        if not abs(total - 1) <= PRINTED_PRECISION:
            raise BadInput(f"curriculum.stages: the fractions must sum to 1, but they sum to {total:g}")

    def check_against(self, rosters: Rosters) -> None:
        """Refuse a curriculum that would train on anything but training sizes."""
        known = set(rosters.train)
        for number, stage in enumerate(self.stages, start=1):
            for size in stage.team_sizes:
                if size not in known:
                    raise BadInput(
                        f"stage {number} trains on team size {size}, which is of the split "
                        f"{rosters.split_of(size)!r}; training sizes are {rosters.train}: write "
                        "--train-sizes with all of them, and the stages follow"
                    )

    def usual_team(self, largest: int) -> float:
        """How many agents an episode has on average in stages with such a largest team: the least of them.

        Of a team that no stage has, as if all sizes up to it were equally likely.
        """
        means = [stage.mean for stage in self.stages if stage.largest == largest]
        return min(means, default=(1 + largest) / 2)

    def boundaries(self, episodes: int) -> tuple[int, ...]:
        """The first episode after each stage, for a run of that many episodes."""
        shares = np.cumsum([stage.fraction for stage in self.stages])
        ends = np.round(shares / shares[-1] * episodes).astype(int)
        return tuple(int(end) for end in ends)

    def stage_index(self, episode: int, episodes: int) -> int:
        """Which stage (from 0) the episode belongs to."""
        ends = self.boundaries(episodes)
        return min(int(np.searchsorted(ends, episode, side="right")), len(self.stages) - 1)

    def team_size(self, seed: int, episode: int, episodes: int) -> int:
        """The size this episode plays with: a pure function of the seed and the episode's number."""
        stage = self.stages[self.stage_index(episode, episodes)]
        draw = np.random.default_rng([TEAM_SIZE_STREAM, seed, episode]).random()
        thresholds = np.cumsum(stage.probabilities) / np.sum(stage.probabilities)
        chosen = min(int(np.searchsorted(thresholds, draw, side="right")), len(stage.team_sizes) - 1)
        return stage.team_sizes[chosen]
