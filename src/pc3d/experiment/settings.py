"""Every setting of a run as frozen data, checked when it is made. Nothing here needs JAX."""

import abc
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import tyro

from pc3d.experiment.roster_process import CONSTANT, RosterProcess
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.experiment.search import Between, OneOf, Tried
from pc3d.system.bounds import Bounded, Range, within
from pc3d.system.errors import BadInput

NAME = re.compile(r"\w[\w-]*([.:]\w[\w-]*)*")  # also an own task's import path
LONGEST_NAME = 120  # bytes; most systems admit 255 for a folder
Widths = Annotated[tuple[int, ...], Range(1, 4096)]
Width = Annotated[int, Range(1, 4096)]
Share = Annotated[float, Range(0, 1)]
Horizon = Annotated[int, Range(1, 10**6)]
ShareAboveNone = Annotated[float, Range(0, 1, above=True)]
Rollouts = Annotated[int, Range(1, 10**6)]  # episodes for each team size, wherever policies are scored


def check_name(name: str, where: str = "") -> None:
    """Refuse what cannot be the name of a task or method, which becomes a part of a folder's name."""
    if not NAME.fullmatch(name) or len(name.encode()) > LONGEST_NAME:
        raise BadInput(f"{where and f'{where}: '}a task or method cannot be called {name[:60]!r}")


@dataclass(frozen=True)
class ReplaySettings:
    """A replay for algorithms that learn from older episodes, too."""

    capacity: int
    """Episodes that are kept, the newest ones."""
    drawn: int
    """How many of them, or of their sequences, an update learns from."""
    sequence_steps: int = 0
    """Longer episodes are cut into sequences of at most this many steps; 0 leaves all of them whole."""
    burn_in: int = 0
    """Steps before a sequence that come with it, so that there is something to remember where it begins."""


@dataclass(frozen=True)
class MixingSettings:
    """How the utilities of a team's members become the value of what the team does."""

    width: int
    """Of the layer between the utilities and the value."""
    weights: Literal["absolute", "softmax"]
    """What keeps the weights of utilities from being negative."""
    hypernetwork_widths: tuple[int, ...]
    """Hidden widths of the networks that make the weights."""


@dataclass(frozen=True)
class AlgorithmSettings(Bounded, abc.ABC):
    """What an algorithm is set to; its `section` is the algorithm's name. `learners` has what it does."""

    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """What a person wants to see of its numbers while it trains, line by line, and what that is called."""

    searched: ClassVar[Mapping[str, Tried]] = {}
    """What a search tries for which of its settings."""

    values_actions: ClassVar[bool] = False
    """Whether its actor says what actions are worth, and the best is taken, or how likely they are."""

    @property
    @abc.abstractmethod
    def episodes_between_updates(self) -> int:
        """How many episodes each environment plays before an update."""

    @property
    def replay(self) -> ReplaySettings | None:
        """How many episodes it keeps and learns from again; None if it learns from the newest ones alone."""
        return None

    @property
    def mixing(self) -> MixingSettings | None:
        """How its central module mixes the values of actions; None where there are none."""
        return None


# How the teacher is, and what students learn of it: for every algorithm that distils.
TEACHER_HEADLINES = {
    "attention_over_agents": "attention over agents",
    "attention_over_tokens": "over tokens",
    "personal_share": "personal",
    "variance_explained": "recovered",
}


@dataclass(frozen=True)
class PpoSettings(AlgorithmSettings):
    """The rows of the paper's hyperparameter table that all methods have."""

    section: ClassVar[str] = "ppo"
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "learner": {"entropy": "entropy", "loss_distillation": "distillation loss", "gate": "gate"},
        "teacher": TEACHER_HEADLINES,
    }
    # The paper gives the settings its searches ended with, not the ranges. Each range here holds all of them.
    searched: ClassVar[Mapping[str, Tried]] = {
        "learning_rate": Between(1e-4, 3e-3, log=True),
        "batch_size": OneOf((32, 64, 128, 256)),
        "update_every_episodes": OneOf((1, 2, 4, 8, 16)),
        "epochs": OneOf((4, 6, 8, 10)),
        "clip": OneOf((0.10, 0.15, 0.20, 0.25, 0.30)),
        "discount": OneOf((0.97, 0.98, 0.985, 0.99, 0.995)),
        "gae_lambda": OneOf((0.90, 0.93, 0.95, 0.97, 0.99)),
        "entropy_coefficient": Between(1e-4, 3e-2, log=True),
        "value_coefficient": OneOf((0.25, 0.5, 1.0, 2.0)),
        "max_gradient_norm": OneOf((0.5, 1.0, 2.0, 5.0, 10.0)),
    }

    learning_rate: ShareAboveNone
    """Adam's step size at the start."""
    batch_size: Annotated[int, Range(1, 10**9)]
    """How much a minibatch holds at most; in which unit, says recipe.batch_unit."""
    buffer_size: Annotated[int, Range(1, 10**12)]
    """Team steps held for each environment; what it plays between two updates must fit."""
    update_every_episodes: Annotated[int, Range(1, 4096)]
    """Episodes each environment plays between two updates; recipe.environments says how many there are."""
    epochs: Annotated[int, Range(1, 1000)]
    """Passes over the played episodes in one update."""
    clip: ShareAboveNone
    """PPO's ε: how far the probability ratio may move."""
    discount: Share
    """γ."""
    gae_lambda: Share
    """λ of generalised advantage estimation."""
    entropy_coefficient: Annotated[float, Range(0, 10)]
    """Weight of the entropy bonus."""
    value_coefficient: Annotated[float, Range(0, 100)]
    """Weight of the value loss."""
    max_gradient_norm: Annotated[float, Range(0, 1e6, above=True)]
    """Longer gradients are shortened to this norm."""

    @property
    def episodes_between_updates(self) -> int:
        return self.update_every_episodes


@dataclass(frozen=True)
class QLearningSettings(AlgorithmSettings):
    """Value factorisation: VDN and QMIX. The paper has none of it; reasons: docs/value_factorisation.md."""

    section: ClassVar[str] = "q"
    values_actions: ClassVar[bool] = True
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "learner": {
            "epsilon": "ε",
            "value": "value",
            "value_error": "error",
            "loss_distillation": "distillation loss",
            "gate": "gate",
        },
        "teacher": TEACHER_HEADLINES,
    }
    searched: ClassVar[Mapping[str, Tried]] = {
        "learning_rate": Between(1e-4, 3e-3, log=True),
        "gradient_steps": OneOf((1, 2, 4, 8, 16)),
        "target_rate": Between(0.0025, 0.02, log=True),
        "trace": OneOf((0.0, 0.3, 0.6, 0.8)),
        "exploration_steps": OneOf((25_000, 50_000, 100_000, 200_000, 1_000_000)),
    }

    learning_rate: ShareAboveNone = 5e-4
    """Adam's step size at the start."""
    batch_size: Annotated[int, Range(1, 10**6)] = 32
    """Sequences (whole episodes, if not cut) that a gradient step learns from."""
    gradient_steps: Annotated[int, Range(1, 10**4)] = 2
    """In one update, each with sequences of its own."""
    update_every_episodes: Annotated[int, Range(1, 4096)] = 1
    """Episodes each environment plays between two updates; recipe.environments says how many there are."""
    capacity: Annotated[int, Range(1, 10**7)] = 5000
    """Episodes that are remembered, the newest ones."""
    sequence_steps: Annotated[int, Range(1, 10**6)] = 64
    """Longer episodes are cut into sequences of at most this many steps."""
    burn_in: Annotated[int, Range(0, 10**6)] = 16
    """Steps before a sequence that are only remembered, not learned from."""
    discount: Share = 0.99
    """γ."""
    trace: Share = 0.0
    """λ: how far the rewards that followed count before the target's value does; 0 is one step."""
    target_rate: ShareAboveNone = 0.005
    """τ: how fast the slow copy follows, per gradient step; targets and contexts to distil come from it."""
    exploration_start: Share = 1.0
    """ε at first: how often an agent acts at random."""
    exploration_end: Share = 0.05
    """ε in the end; it is never lower."""
    exploration_steps: Annotated[int, Range(1, 10**9)] = 50_000
    """Steps of a team over which ε falls."""
    max_gradient_norm: Annotated[float, Range(0, 1e6, above=True)] = 10.0
    """Longer gradients are shortened to this norm."""
    mixing_width: Width = 32
    """Of the layer between utilities and the team's value."""
    mixing_weights: Literal["absolute", "softmax"] = "absolute"
    """What keeps the mixer monotone: absolute values of its weights, or shares that add up to a constant."""
    hypernetwork_widths: Widths = (64,)
    """Hidden widths of the networks that make the mixer's weights."""

    @property
    def episodes_between_updates(self) -> int:
        return self.update_every_episodes

    @property
    def replay(self) -> ReplaySettings:
        drawn = self.batch_size * self.gradient_steps
        return ReplaySettings(self.capacity, drawn, self.sequence_steps, self.burn_in)

    @property
    def mixing(self) -> MixingSettings:
        return MixingSettings(self.mixing_width, self.mixing_weights, self.hypernetwork_widths)


@dataclass(frozen=True)
class ActorSettings(Bounded):
    """The shared recurrent actor."""

    section: ClassVar[str] = "actor"

    widths: Widths
    """Widths of the dense layers before the recurrent one."""
    rnn_dim: Width
    """Width of the recurrent layer."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.widths:
            raise BadInput("actor.widths must name at least one layer")


@dataclass(frozen=True)
class CriticSettings(Bounded):
    """The central critic; IPPO has none of it."""

    section: ClassVar[str] = "critic"

    widths: Widths = ()
    """Widths of the value head's hidden layers."""
    set_embed_dim: Width = 1
    """d: width of an agent's encoding, of a token and of a context."""
    set_encoder_widths: Widths = ()
    """Hidden widths of the shared observation encoder φ."""
    team_size_feature: bool = False
    """Whether the value head is told the team size."""
    tokens: Annotated[int, Range(1, 256)] = 1
    """K: how many learned queries read the team."""
    global_state: bool = False
    """Whether the value head also sees the task's global state."""
    normalise_encodings: bool = False
    """Whether an encoding's numbers get zero mean and unit deviation, which attention's √d presumes."""


@dataclass(frozen=True)
class DistillationSettings(Bounded):
    """How the student context follows the teacher, and how far reliance may go."""

    section: ClassVar[str] = "distillation"

    weight: Annotated[float, Range(0, 1000)] = 0.0
    """λ_distill."""
    teacher_rate: Share = 0.01
    """τ: how fast the averaged teacher follows the learning one, per gradient step."""
    reliance_min: Annotated[float, Range(-1000, 1000)] = -3.0
    """ρ_min."""
    reliance_max: Annotated[float, Range(-1000, 1000)] = 2.0
    """ρ_max."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.reliance_min < self.reliance_max:
            raise BadInput(
                f"distillation.reliance_min ({self.reliance_min:g}) must be below "
                f"distillation.reliance_max ({self.reliance_max:g})"
            )


@dataclass(frozen=True)
class Recipe(Bounded):
    """What the paper leaves open; the same for all methods of a task. Reasons: docs/reproduction.md."""

    section: ClassVar[str] = "recipe"

    normalise_values: bool = True
    """Regress on value targets of zero mean and unit deviation (running, over updates)."""
    value_statistics_rate: ShareAboveNone = 0.01
    """How fast the running mean and deviation of value targets follow."""
    normalise_advantages: bool = True
    """Give an update's advantages zero mean and, by the deviation below, a common scale."""
    advantage_deviation: Literal["update", "running"] = "update"
    """What normalised advantages are divided by: their own deviation, or the running one of value targets."""
    horizon_bootstraps: bool = True
    """At the time limit, the value of what would have come next counts: it is no end of the game."""
    reward_per_agent: bool = True
    """Learn from the team reward divided by the team size, so that sizes weigh alike."""
    learning_rate_schedule: Literal["constant", "linear"] = "linear"
    """Whether the step size falls to zero over the run."""
    adam_epsilon: ShareAboveNone = 1e-5
    """Adam's ε."""
    clip_gradients: Literal["together", "apart"] = "together"
    """Whether actor and critic share one gradient norm."""
    clip_values: bool = False
    """Whether the value loss is clipped around the value before the update, as some PPOs do."""
    environments: Annotated[int, Range(1, 4096)] = 1
    """How many play side by side; an algorithm says how many episodes of each it wants before an update."""
    batch_unit: Literal["sequences", "team_steps"] = "sequences"
    """What the batch size counts: sequences (whole episodes, if not cut), or steps of a team."""
    backpropagation_steps: Annotated[int, Range(1, 10**6)] = 64
    """Longer episodes are cut into sequences of at most this many steps."""
    activation: Literal["relu", "tanh"] = "relu"
    """Of every dense layer."""
    initialisation: Literal["orthogonal", "uniform"] = "orthogonal"
    """First weights: orthogonal, small in policy head and modulation; or as PyTorch makes a layer."""
    huber_delta: Annotated[float, Range(0, 1e6, above=True)] = 1.0
    """Where the distillation loss turns from quadratic to linear."""
    huber_reduction: Literal["mean", "root", "sum"] = "mean"
    """Over the d numbers of a context; root is what lies between: the sum divided by √d."""
    policy_gradient_reaches_context: bool = True
    """Whether the policy objective trains the student context; without it A-MAPPO's would never learn."""
    gate_scale: Annotated[float, Range(-100, 100)] = 1.0
    """a_g."""
    gate_offset: Annotated[float, Range(-100, 100)] = 0.0
    """b_g."""
    gate_learned: bool = False
    """Whether a_g and b_g are trained."""
    reliance_gradient: Literal["clipped", "straight"] = "clipped"
    """Whether the gradient stops where reliance is clipped, or passes through."""
    hypernetwork_widths: Widths = (64,)
    """Hidden widths of Hyper-PC3D's hypernetwork."""


@dataclass(frozen=True)
class Rules(Bounded):
    """What can be set of a task's rules; a task that has such settings has a class of its own for them."""

    @property
    def of_original(self) -> bool:
        """Whether the original package can be played by them, too."""
        return True


@dataclass(frozen=True)
class OwnWorld:
    """A task from outside the package as it was found when training began.

    It is enough to read, export and report the task's policies without running any of its code.
    """

    stepped_by: Literal["jax", "host"]
    """Compiled with the learner, or stepped as Python objects in worker processes."""
    horizon: int
    observation_shape: tuple[int, ...]
    action_names: tuple[str, ...]
    return_definition: str

    def __post_init__(self) -> None:
        within("horizon", self.horizon, 1, 10**6)
        for width in self.observation_shape:
            within("observation_shape", width, 1, 10**6)
        within("the number of actions", len(self.action_names), 1, 4096)


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
    critic: CriticSettings = CriticSettings()
    distillation: DistillationSettings = DistillationSettings()
    recipe: Recipe = Recipe()
    seed: int = 0
    """Decides every random draw of the run."""
    episodes: int = 20_000
    """Training episodes; the curriculum's stages are shares of them."""
    rules: Annotated[Rules, tyro.conf.arg(name="")] = Rules()
    # By name, on the command line: tyro would make commands of the kinds.
    roster: tyro.conf.Suppress[tyro.conf.Fixed[RosterProcess]] = CONSTANT
    backend: Literal["jax", "original"] = "jax"
    """Train in our worlds, or in the original packages, stepped in worker processes."""
    # Found by looking at the task, never by an option.
    world: tyro.conf.Suppress[tyro.conf.Fixed[OwnWorld | None]] = None
    # Found in the run that it goes on from.
    origin: tyro.conf.Suppress[tyro.conf.Fixed[Origin | None]] = None
    lengthened_from: tyro.conf.Suppress[tyro.conf.Fixed[tuple[int, ...]]] = ()

    def __post_init__(self) -> None:
        within("seed", self.seed, 0, 2**31 - 1)
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

    def stage_number(self, episode: int) -> int:
        """The curriculum's stage that an episode belongs to, from 1."""
        return self.curriculum.stage_index(episode, self.episodes) + 1

    def stage_of(self, episode: int) -> Stage:
        return self.curriculum.stages[self.stage_number(episode) - 1]

    def most_slots(self, stage: Stage, fewest: int) -> int:
        """How wide worlds must be for all teams of a stage, in a task that always needs so many agents."""
        return max(self.roster.limits(size, fewest).slots for size in stage.team_sizes)

    def team_size_of(self, episode: int) -> int:
        """How many agents an episode of training is played with."""
        return self.curriculum.team_size(self.seed, episode, self.episodes)
