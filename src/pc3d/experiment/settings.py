"""Every setting of a run as frozen data, checked when it is made. Nothing here needs JAX."""

import abc
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import tyro

from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.experiment.search import Between, OneOf, Tried
from pc3d.system.errors import BadInput

MOST_LAYERS = 16
NAME = re.compile(r"\w[\w-]*([.:]\w[\w-]*)*")  # also an own task's import path


def within(name: str, value: float, low: float, high: float, *, above: bool = False) -> None:
    """Refuse a setting outside its range, naming both; NaN is outside every range."""
    if not (low < value <= high if above else low <= value <= high):
        start = "above" if above else "from"
        raise BadInput(f"{name} must be {start} {low:g} to {high:g}, not {value:g}")


def _widths(name: str, widths: tuple[int, ...]) -> None:
    within(f"the number of {name}", len(widths), 0, MOST_LAYERS)
    for width in widths:
        within(name, width, 1, 4096)


@dataclass(frozen=True)
class ReplaySettings:
    """A replay for algorithms that learn from older episodes, too."""

    capacity: int
    """Episodes that are kept, the newest ones."""
    drawn: int
    """How many of them an update learns from."""


@dataclass(frozen=True)
class AlgorithmSettings(abc.ABC):
    """What an algorithm is set to; the class says which one is meant. `learners` has what it does."""

    section: ClassVar[str]
    """Its name, which stands before its settings on the command line and in files, as in ppo.epochs."""
    headlines: ClassVar[Mapping[str, str]] = {}
    """Which of the numbers it reports a person wants to see while it trains, and what they are called."""

    searched: ClassVar[Mapping[str, Tried]] = {}
    """What a search tries for which of its settings."""

    @property
    @abc.abstractmethod
    def episodes_between_updates(self) -> int:
        """How many episodes each environment plays before an update."""

    @property
    def replay(self) -> ReplaySettings | None:
        """How many episodes it keeps and learns from again; None if it learns from the newest ones alone."""
        return None


@dataclass(frozen=True)
class PpoSettings(AlgorithmSettings):
    """The rows of the paper's hyperparameter table that all methods have."""

    section: ClassVar[str] = "ppo"
    headlines: ClassVar[Mapping[str, str]] = {
        "entropy": "entropy",
        "loss_distillation": "distillation loss",
        "gate": "gate",
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

    learning_rate: float
    """Adam's step size at the start."""
    batch_size: int
    """How much a minibatch holds at most; in which unit, says recipe.batch_unit."""
    buffer_size: int
    """Team steps held for each environment; what it plays between two updates must fit."""
    update_every_episodes: int
    """Episodes each environment plays between two updates; recipe.environments says how many there are."""
    epochs: int
    """Passes over the played episodes in one update."""
    clip: float
    """PPO's ε: how far the probability ratio may move."""
    discount: float
    """γ."""
    gae_lambda: float
    """λ of generalised advantage estimation."""
    entropy_coefficient: float
    """Weight of the entropy bonus."""
    value_coefficient: float
    """Weight of the value loss."""
    max_gradient_norm: float
    """Longer gradients are shortened to this norm."""

    def __post_init__(self) -> None:
        within("ppo.learning_rate", self.learning_rate, 0, 1, above=True)
        within("ppo.batch_size", self.batch_size, 1, 10**9)
        within("ppo.buffer_size", self.buffer_size, 1, 10**12)
        within("ppo.update_every_episodes", self.update_every_episodes, 1, 4096)
        within("ppo.epochs", self.epochs, 1, 1000)
        within("ppo.clip", self.clip, 0, 1, above=True)
        within("ppo.discount", self.discount, 0, 1)
        within("ppo.gae_lambda", self.gae_lambda, 0, 1)
        within("ppo.entropy_coefficient", self.entropy_coefficient, 0, 10)
        within("ppo.value_coefficient", self.value_coefficient, 0, 100)
        within("ppo.max_gradient_norm", self.max_gradient_norm, 0, 1e6, above=True)

    @property
    def episodes_between_updates(self) -> int:
        return self.update_every_episodes


@dataclass(frozen=True)
class ActorSettings:
    """The shared recurrent actor."""

    widths: tuple[int, ...]
    """Widths of the dense layers before the recurrent one."""
    rnn_dim: int
    """Width of the recurrent layer."""

    def __post_init__(self) -> None:
        if not self.widths:
            raise BadInput("actor.widths must name at least one layer")
        _widths("actor.widths", self.widths)
        within("actor.rnn_dim", self.rnn_dim, 1, 4096)


@dataclass(frozen=True)
class CriticSettings:
    """The central critic; IPPO has none of it."""

    widths: tuple[int, ...] = ()
    """Widths of the value head's hidden layers."""
    set_embed_dim: int = 1
    """d: width of an agent's encoding, of a token and of a context."""
    set_encoder_widths: tuple[int, ...] = ()
    """Hidden widths of the shared observation encoder φ."""
    team_size_feature: bool = False
    """Whether the value head is told the team size."""
    tokens: int = 1
    """K: how many learned queries read the team."""
    global_state: bool = False
    """Whether the value head also sees the task's global state."""
    normalise_encodings: bool = False
    """Whether an encoding's numbers get zero mean and unit deviation, which attention's √d presumes."""

    def __post_init__(self) -> None:
        _widths("critic.widths", self.widths)
        _widths("critic.set_encoder_widths", self.set_encoder_widths)
        within("critic.set_embed_dim", self.set_embed_dim, 1, 4096)
        within("critic.tokens", self.tokens, 1, 256)


@dataclass(frozen=True)
class DistillationSettings:
    """How the student context follows the teacher, and how far reliance may go."""

    weight: float = 0.0
    """λ_distill."""
    teacher_rate: float = 0.01
    """τ: how fast the averaged teacher follows the learning one, per gradient step."""
    reliance_min: float = -3.0
    """ρ_min."""
    reliance_max: float = 2.0
    """ρ_max."""

    def __post_init__(self) -> None:
        within("distillation.weight", self.weight, 0, 1000)
        within("distillation.teacher_rate", self.teacher_rate, 0, 1)
        within("distillation.reliance_min", self.reliance_min, -1000, 1000)
        within("distillation.reliance_max", self.reliance_max, -1000, 1000)
        if not self.reliance_min < self.reliance_max:
            raise BadInput(
                f"distillation.reliance_min ({self.reliance_min:g}) must be below "
                f"distillation.reliance_max ({self.reliance_max:g})"
            )


@dataclass(frozen=True)
class Recipe:
    """What the paper leaves open; the same for all methods of a task. Reasons: docs/reproduction.md."""

    normalise_values: bool = True
    """Regress on value targets of zero mean and unit deviation (running, over updates)."""
    value_statistics_rate: float = 0.01
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
    adam_epsilon: float = 1e-5
    """Adam's ε."""
    clip_gradients: Literal["together", "apart"] = "together"
    """Whether actor and critic share one gradient norm."""
    clip_values: bool = False
    """Whether the value loss is clipped around the value before the update, as some PPOs do."""
    environments: int = 1
    """How many play side by side; an algorithm says how many episodes of each it wants before an update."""
    batch_unit: Literal["sequences", "team_steps"] = "sequences"
    """What the batch size counts: sequences (whole episodes, if not cut), or steps of a team."""
    backpropagation_steps: int = 64
    """Longer episodes are cut into sequences of at most this many steps."""
    activation: Literal["relu", "tanh"] = "relu"
    """Of every dense layer."""
    initialisation: Literal["orthogonal", "uniform"] = "orthogonal"
    """First weights: orthogonal, small in policy head and modulation; or as PyTorch makes a layer."""
    huber_delta: float = 1.0
    """Where the distillation loss turns from quadratic to linear."""
    huber_reduction: Literal["mean", "root", "sum"] = "mean"
    """Over the d numbers of a context; root is what lies between: the sum divided by √d."""
    policy_gradient_reaches_context: bool = True
    """Whether the policy objective trains the student context; without it A-MAPPO's would never learn."""
    gate_scale: float = 1.0
    """a_g."""
    gate_offset: float = 0.0
    """b_g."""
    gate_learned: bool = False
    """Whether a_g and b_g are trained."""
    reliance_gradient: Literal["clipped", "straight"] = "clipped"
    """Whether the gradient stops where reliance is clipped, or passes through."""
    hypernetwork_widths: tuple[int, ...] = (64,)
    """Hidden widths of Hyper-PC3D's hypernetwork."""

    def __post_init__(self) -> None:
        within("recipe.value_statistics_rate", self.value_statistics_rate, 0, 1, above=True)
        within("recipe.adam_epsilon", self.adam_epsilon, 0, 1, above=True)
        within("recipe.environments", self.environments, 1, 4096)
        within("recipe.backpropagation_steps", self.backpropagation_steps, 1, 10**6)
        within("recipe.huber_delta", self.huber_delta, 0, 1e6, above=True)
        within("recipe.gate_scale", self.gate_scale, -100, 100)
        within("recipe.gate_offset", self.gate_offset, -100, 100)
        _widths("recipe.hypernetwork_widths", self.hypernetwork_widths)


@dataclass(frozen=True)
class Rules:
    """What can be set of a task's rules; a task that has such settings has a class of its own for them."""

    section: ClassVar[str] = ""  # on the command line they have no name before them


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
    backend: Literal["jax", "original"] = "jax"
    """Train in our worlds, or in the original packages, stepped in worker processes."""
    # Found by looking at the task, never by an option.
    world: tyro.conf.Suppress[tyro.conf.Fixed[OwnWorld | None]] = None

    def __post_init__(self) -> None:
        within("seed", self.seed, 0, 2**31 - 1)
        within("episodes", self.episodes, 1, 10**9)
        for name in (self.task, self.method):  # parts of folder names
            if not NAME.fullmatch(name):
                raise BadInput(f"a task or method cannot be called {name[:60]!r}")
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

    def team_size_of(self, episode: int) -> int:
        """How many agents an episode of training is played with."""
        return self.curriculum.team_size(self.seed, episode, self.episodes)
