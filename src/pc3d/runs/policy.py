"""A trained policy as a thing to load: from a run's folder, or from its file alone."""

from dataclasses import dataclass
from pathlib import Path

from pc3d.experiment.settings import Experiment
from pc3d.networks.actor import Actor
from pc3d.networks.build import PolicyNetworks, blank_policy
from pc3d.presets.experiment_file import read_experiment
from pc3d.runs.checkpoint import load_tree, read_description
from pc3d.runs.players import Agent, Players
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import BadInput
from pc3d.tasks.make import make_game
from pc3d.tasks.task import Game


@dataclass(frozen=True)
class Policy:
    """The decentralized actor, with the averaged teacher beside it to measure against (if there is one)."""

    path: Path
    experiment: Experiment
    task: Game
    networks: PolicyNetworks

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
        run = RunFolder(path)
        if not run.final.exists():
            raise BadInput(f"{path} {_state_without_policy(run)}")
        path = run.final
    description = read_description(path)
    if description.get("kind") != "policy":
        raise BadInput(f"{path} holds a {description.get('kind')}, not a policy")
    experiment = read_experiment(description.get("experiment"), str(path))
    task = make_game(experiment)
    networks, _ = load_tree(path, blank_policy(experiment, task))
    return Policy(path, experiment, task, networks)


def _state_without_policy(run: RunFolder) -> str:
    if not run.experiment_file.exists():
        return "is no run"
    if run.done:
        return "is a record without its policy: pc3d record keeps those of one seed of some methods"
    return "is unfinished: continue it with pc3d train"


def folder_of(policy: Policy) -> Path:
    """The folder of the run that a policy lies in."""
    folder = policy.path.parent
    if policy.path != RunFolder(folder).final:
        raise BadInput(f"{policy.path} is a file outside a run: say where its scores should go")
    return folder
