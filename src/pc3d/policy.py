"""A trained policy as a thing to load: from a run's folder, or from its file alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pc3d.checkpoint import load_tree, read_file
from pc3d.errors import BadInput
from pc3d.learner.update import fresh_learner
from pc3d.networks.actor import Actor
from pc3d.networks.teacher import Teacher
from pc3d.plain import from_plain
from pc3d.run_folder import RunFolder
from pc3d.settings import Experiment
from pc3d.tasks import make_task
from pc3d.tasks.task import AnyTask


@dataclass(frozen=True)
class Policy:
    """The decentralized actor, with the averaged teacher beside it to measure against (if there is one)."""

    path: Path
    experiment: Experiment
    task: AnyTask
    actor: Actor
    teacher: Teacher | None


def load_policy(path: Path | str) -> Policy:
    """Read a run folder or a policy file; the file knows its task, method and settings."""
    path = Path(path)
    if path.is_dir():
        run = RunFolder(path)
        if not run.final.exists():
            state = (
                "is unfinished: continue it with pc3d train" if run.experiment_file.exists() else "is no run"
            )
            raise BadInput(f"{path} {state}")
        path = run.final
    _, description = read_file(path)
    if description.get("kind") != "policy":
        raise BadInput(f"{path} holds a {description.get('kind')}, not a policy")
    experiment = from_plain(Experiment, description.get("experiment"), str(path))
    task = make_task(experiment)
    networks, _ = load_tree(path, fresh_learner(experiment, task).policy)
    return Policy(path, experiment, task, networks.actor, networks.teacher)
