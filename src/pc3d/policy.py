"""A trained policy as a thing to load: from a run's folder, or from its file alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import jax

from pc3d.checkpoint import load_tree, read_description
from pc3d.errors import BadInput
from pc3d.learner.update import fresh_learner
from pc3d.networks.actor import Actor
from pc3d.networks.teacher import Teacher
from pc3d.plain import from_plain
from pc3d.run_folder import RunFolder
from pc3d.settings import Experiment
from pc3d.tasks import make_game
from pc3d.tasks.task import Game


@dataclass(frozen=True)
class Policy:
    """The decentralized actor, with the averaged teacher beside it to measure against (if there is one)."""

    path: Path
    experiment: Experiment
    task: Game
    actor: Actor
    teacher: Teacher | None


def load_policy(path: Path | str) -> Policy:
    """Read a run folder or a policy file; it knows its task, method and settings, and imports nothing."""
    path = Path(path)
    if path.is_dir():
        run = RunFolder(path)
        if not run.final.exists():
            raise BadInput(f"{path} {_state_without_policy(run)}")
        path = run.final
    description = read_description(path)
    if description.get("kind") != "policy":
        raise BadInput(f"{path} holds a {description.get('kind')}, not a policy")
    experiment = from_plain(Experiment, description.get("experiment"), str(path))
    task = make_game(experiment)
    # Only the shapes are made up, not the arrays: a file could ask for more of them than there is memory.
    shapes = jax.eval_shape(lambda: fresh_learner(experiment, task).policy)
    networks, _ = load_tree(path, shapes)
    return Policy(path, experiment, task, networks.actor, networks.teacher)


def _state_without_policy(run: RunFolder) -> str:
    if not run.experiment_file.exists():
        return "is no run"
    if run.done:
        return "is a record without its policy: pc3d record keeps those of one seed of some methods"
    return "is unfinished: continue it with pc3d train"
