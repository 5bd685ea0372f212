"""Small searches for tests: one setting is searched, and workers can be stand-ins."""

import subprocess
import sys
from pathlib import Path

from pc3d.jobs.tuning.plan import Plan, make_plan
from pc3d.jobs.tuning.search import Search
from pc3d.jobs.tuning.space import _rows
from pc3d.jobs.tuning.storage import Storage
from pc3d.jobs.tuning.trial_folder import Budget
from pc3d.presets.paper import paper

# The whole table: PPO's rows, those of networks, and those of other algorithms.
OF_EACH_ALGORITHM = (
    "mappo",
    "qmix",
    "happo",
    "graph",
    "maddpg",
    "matd3",
    "masac",
    "ptde",
    "ctds",
    "a-qmix",
    "refil",
    "sog",
    "copa",
    "mipi",
)
SPACE = tuple(dict.fromkeys(row for method in OF_EACH_ALGORITHM for row in _rows(paper("spread", method))))
FAKE_WORKER = Path(__file__).parent / "fake_worker.py"
# Everything that MAPPO searches but its learning rate, as the paper has it.
FIXED = tuple(
    f"{row.setting}={value}"
    for row, value in zip(
        [row for row in SPACE if row.searched_by("mappo")][1:],
        ("128", "8", "8", "0.15", "0.985", "0.99", "0.00128", "0.25", "2.0", "128,256,128", "128", "128,96"),
        strict=True,
    )
)


def small_plan(**changes) -> Plan:
    options = {"pruning": "none", "sampler_seed": 0, "budget": Budget(100, 1, 4), **changes}
    return make_plan(paper("spread", "mappo"), "paper", FIXED, **options)


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'search.db'}"


def start_fake_worker(words, errors) -> subprocess.Popen:
    assert words[:2] == ["tune", "trial"]
    with open(errors, "wb") as file:
        return subprocess.Popen([sys.executable, str(FAKE_WORKER), *words[2:]], stderr=file)


def search(folder: Path, trials: int, *, workers: int = 1, folder_id: str = "here", plan=None, storage=None):
    """A search that is ready to run in this process."""
    plan = plan or small_plan()
    storage = storage or Storage(url(folder), "a search", plan, folder_id)
    return Search(plan, storage, folder, trials, workers, show=lambda *_: None)


def rates(records) -> list[float]:
    return [record.settings["ppo.learning_rate"] for record in records]
