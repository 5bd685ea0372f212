"""The numbers the paper prints, from paper_numbers.toml, to stand beside ours."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from pc3d.report.names import SPLITS

SEEDS = 5


@dataclass(frozen=True)
class Published:
    """A mean ± standard deviation over the seeds, as printed."""

    text: str
    mean: float
    deviation: float


ResultTable = dict[str, dict[str, dict[str, Published]]]  # method, then task, then split
NUMBERS = tomllib.loads((files("pc3d.report") / "paper_numbers.toml").read_text(encoding="utf-8"))


def _table(name: str) -> ResultTable:
    return {
        method: {task: dict(zip(SPLITS, map(_published, row), strict=True)) for task, row in tasks.items()}
        for method, tasks in NUMBERS[name].items()
    }


def _published(text: str) -> Published:
    return Published(text, *map(float, text.split(" ± ")))


MAIN = _table("main")
ABLATION = {"pc3d": MAIN["pc3d"], **_table("ablation")}
HYPER = _table("hyper")

CLOCKED_EPISODES = 512
# For the MAPPO family seconds per update are whole numbers when multiplied by 8: apparently the 512 episodes
# that the paper clocked had 8 updates. For IPPO they are not, so nothing can be inferred.
UPDATES_CLOCKED = {"mappo": 8, "pic": 8, "pc3d": 8}


def published_returns(method: str, task: str, split: str) -> Published | None:
    """What the paper prints for a method, in whichever of its tables."""
    rows = (table[method][task] for table in (MAIN, ABLATION, HYPER) if task in table.get(method, {}))
    return next((row[split] for row in rows), None)


def seconds_per_update(method: str, task: str) -> float | None:
    """The paper's seconds per learner update, if it prints them."""
    return NUMBERS["seconds_per_update"].get(method, {}).get(task)


def seconds_per_512(method: str, task: str) -> float | None:
    """The paper's seconds per 512 training episodes, where they can be inferred."""
    per_update, updates = seconds_per_update(method, task), UPDATES_CLOCKED.get(method)
    return None if per_update is None or updates is None else per_update * updates
