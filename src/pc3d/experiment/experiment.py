"""Everything that is set of a run, as frozen data that is checked when it is made. Nothing here needs JAX."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import tyro

from pc3d.experiment.algorithm_settings import AlgorithmSettings
from pc3d.experiment.execution import AnyMessages, Broadcasts, GroupMessages, Messages
from pc3d.experiment.mixes import NO_MIXES, Mixes
from pc3d.experiment.names import check_name
from pc3d.experiment.network_settings import ActorSettings, CriticSettings, DistillationSettings
from pc3d.experiment.recipe import Recipe
from pc3d.experiment.roster_process import CONSTANT, RosterProcess
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.experiment.world import OwnWorld, Rules
from pc3d.system.bounds import refuse_other_kinds, within

LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Origin:
    """The policy that a run began with, in the place of fresh weights."""

    policy: str
    """The digest of its file."""
    task: str
    method: str
    seed: int
    episodes: int


@dataclass(frozen=True)
class Experiment:
    """Everything that decides what a run's numbers will be."""

    # Chosen by the first two words of a command, and never changed by an option.
    task: tyro.conf.Suppress[tyro.conf.Fixed[str]]
    method: tyro.conf.Suppress[tyro.conf.Fixed[str]]

    rosters: Rosters
    curriculum: Curriculum
    algorithm: AlgorithmSettings
    actor: ActorSettings
    critic: CriticSettings = field(default_factory=CriticSettings)
    distillation: DistillationSettings = field(default_factory=DistillationSettings)
    recipe: Recipe = field(default_factory=Recipe)
    seed: int = 0
    """Decides every random draw of the run."""
    episodes: int = 20_000
    """Training episodes; the curriculum's stages are shares of them."""
    rules: Annotated[Rules, tyro.conf.arg(name="")] = field(default_factory=Rules)
    # By name, on the command line: tyro would make commands of the kinds.
    roster: tyro.conf.Suppress[tyro.conf.Fixed[RosterProcess]] = CONSTANT
    mixes: tyro.conf.Suppress[tyro.conf.Fixed[Mixes]] = NO_MIXES
    backend: Literal["jax", "original"] = "jax"
    """Train in our worlds, or in the original packages, stepped in worker processes."""
    # Found by looking at the task, never by an option.
    world: tyro.conf.Suppress[tyro.conf.Fixed[OwnWorld | None]] = None
    # Found in the run that it goes on from.
    origin: tyro.conf.Suppress[tyro.conf.Fixed[Origin | None]] = None
    lengthened_from: tyro.conf.Suppress[tyro.conf.Fixed[tuple[int, ...]]] = ()

    def __post_init__(self) -> None:
        for name in ("seed", "episodes"):
            refuse_other_kinds(name, getattr(self, name), int)
        within("seed", self.seed, 0, LARGEST_SEED)
        within("episodes", self.episodes, 1, 10**9)
        for name in (self.task, self.method):
            check_name(name)
        self.curriculum.check_against(self.rosters)

    @property
    def episodes_per_update(self) -> int:
        """How many episodes, of all environments, are played before an update."""
        return self.algorithm.episodes_between_updates * self.recipe.environments

    @property
    def updates(self) -> int:
        """How often the learner updates; the last update may play less than the usual episodes."""
        return -(-self.episodes // self.episodes_per_update)

    def episodes_of_update(self, update: int) -> range:
        """The numbers of the episodes played before this update."""
        first = update * self.episodes_per_update
        return range(first, min(first + self.episodes_per_update, self.episodes))

    @property
    def keeps_states(self) -> bool:
        """Whether central parts see more than observations, so that play has to keep it."""
        return self.critic.global_state or self.algorithm.entities is not None

    @property
    def messages(self) -> AnyMessages | None:
        """What agents tell each other at every step, or hear from their coach; None if they do not."""
        coach = self.algorithm.coach
        if coach is not None:
            return Broadcasts(coach.every, coach.width)
        groups = self.algorithm.conducting
        if groups is not None:
            return GroupMessages(groups.every, groups.width)
        rounds = self.algorithm.message_rounds
        return Messages(rounds, self.actor.rnn_dim) if rounds else None

    def stage_number(self, episode: int) -> int:
        """The curriculum's stage that an episode belongs to, from 1."""
        return self.curriculum.stage_index(episode, self.episodes) + 1

    def stage_of(self, episode: int) -> Stage:
        return self.curriculum.stages[self.stage_number(episode) - 1]

    def most_slots(self, stage: Stage, fewest: int) -> int:
        """How wide worlds must be for all teams of a stage, in a task that always needs so many agents."""
        return max(self.roster.limits(size, fewest).slots for size in stage.team_sizes) + self.spare_slots

    @property
    def spare_slots(self) -> int:
        """How many more slots than agents at the start there are in an own task whose agents join."""
        return self.world.spare_slots if self.world else 0

    @property
    def most_agents(self) -> int:
        """How many slots the largest admitted team has."""
        return self.rosters.largest + self.spare_slots

    def team_size_of(self, episode: int) -> int:
        """How many agents an episode of training is played with."""
        return self.curriculum.team_size(self.seed, episode, self.episodes)
