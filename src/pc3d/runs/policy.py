"""A trained policy as a thing to load: from a run's folder, or from its file alone."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pc3d.experiment.experiment import Experiment
from pc3d.networks.actor import Actor
from pc3d.networks.build import PolicyNetworks, blank_policy
from pc3d.presets.experiment_file import read_experiment
from pc3d.runs.checkpoint import load_tree, named_arrays, read_description
from pc3d.runs.players import Agent, Players
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import BadInput, DamagedFile
from pc3d.system.plain import differences, printable
from pc3d.tasks.make import make_game
from pc3d.tasks.task import Game

TASK_METHOD_SEED = 3  # the folders between a user's folder and a run


@dataclass(frozen=True, repr=False)
class Policy:
    """The decentralized actor, with the averaged teacher beside it to measure against (if there is one)."""

    path: Path
    experiment: Experiment
    task: Game
    networks: PolicyNetworks

    def __repr__(self) -> str:
        of = self.experiment
        return f"Policy({str(self.path)!r}: {of.task} {of.method} seed {of.seed})"

    @property
    def actor(self) -> Actor:
        return self.networks.actor

    def agent(self, *, seed: int = 0, greedy: bool = False) -> Agent:
        """One agent: `act(observation)` gives its next action; `seed` decides its draws."""
        return Agent(self.actor, seed=seed, greedy=greedy)

    def players(self, team_size: int, *, seed: int = 0, greedy: bool = False) -> Players:
        """A whole team, of any size: `act(observations)` gives everybody's next action."""
        return Players(self.actor, team_size, seed=seed, greedy=greedy)


def load_policy(path: Path | str) -> Policy:
    """Read a run folder or a policy file; it knows its task, method and settings, and imports nothing."""
    path = Path(path)
    if path.is_dir():
        return _policy_of(RunFolder(path))
    # A link that the user named is followed; inside of a run's folder there are none.
    return _policy_in(path.resolve() if path.is_symlink() else path)


def _policy_of(run: RunFolder) -> Policy:
    run.check_whole()
    if not run.final.exists():
        raise BadInput(f"{run.path} {_state_without_policy(run)}")
    policy = _policy_in(run.final)
    if changed := differences(run.experiment(), policy.experiment):
        raise DamagedFile(f"{run.final} is the policy of another experiment than its folder's ({changed[0]})")
    return policy


def _policy_in(path: Path) -> Policy:
    description = read_description(path)
    if description.get("kind") != "policy":
        raise BadInput(f"{path} holds {_short(description.get('kind'))}, not a policy")
    experiment = read_experiment(description.get("experiment"), str(path))
    task = make_game(experiment)
    networks, _ = load_tree(path, blank_policy(experiment, task))
    for name, array in named_arrays(networks).items():
        if not np.isfinite(array).all():
            raise BadInput(f"{path} holds a policy that cannot act: {name} is not finite in it")
    return Policy(path, experiment, task, networks)


def _short(kind: object) -> str:
    return f"a {printable(kind[:60])}" if isinstance(kind, str) else "something else"


def _state_without_policy(run: RunFolder) -> str:
    if not run.experiment_file.exists():
        inside = _runs_below(run.path)
        return f"is no run, but {inside[0]} in it is: name that one" if inside else "is no run"
    if run.done:
        return "is a record without its policy: pc3d record keeps those of one seed of each task"
    return "is unfinished: continue it with pc3d train"


def _runs_below(folder: Path) -> list[Path]:
    """Not far below: a folder may be anything, and large."""
    patterns = ("*/" * depth + "experiment.json" for depth in range(1, TASK_METHOD_SEED + 1))
    return sorted(file.parent for pattern in patterns for file in folder.glob(pattern))


def folder_of(policy: Policy) -> Path:
    """The folder of the run that a policy lies in."""
    folder = policy.path.parent
    if policy.path != RunFolder(folder).final:
        raise BadInput(f"{policy.path} is a file outside a run: say where its scores should go")
    return folder
