"""Off-policy actor–critics: MADDPG, MATD3 and MASAC."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pc3d.experiment.algorithm_settings import TEACHER_HEADLINES, CentralKind
from pc3d.experiment.ranges import Share, ShareAboveNone
from pc3d.experiment.replayed_settings import ExploringSettings, ReplayedSettings
from pc3d.experiment.search import Between, OneOf, Tried
from pc3d.system.bounds import Range
from pc3d.system.errors import BadInput

TOLD_OF_ALL = {
    "entropy": "entropy",
    "value": "value",
    "value_error": "error",
    "loss_distillation": "distillation loss",
    "gate": "gate",
}
SEARCHED_BY_ALL: Mapping[str, Tried] = {
    "learning_rate": Between(1e-4, 3e-3, log=True),
    "target_rate": Between(0.0025, 0.02, log=True),
    "trace": OneOf((0.0, 0.3, 0.6, 0.8)),
}
STEPS_SEARCHED = (2, 4, 8, 16)


@dataclass(frozen=True)
class MaddpgSettings(ExploringSettings):
    """MADDPG for a choice of actions. The paper has none of it; reasons: docs/off_policy.md."""

    section: ClassVar[str] = "maddpg"
    central: ClassVar[CentralKind] = "joint action"
    actor_every: ClassVar[int] = 1
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "learner": {"epsilon": "ε", **TOLD_OF_ALL},
        "teacher": TEACHER_HEADLINES,
    }
    searched: ClassVar[Mapping[str, Tried]] = {
        **SEARCHED_BY_ALL,
        "gradient_steps": OneOf((1, *STEPS_SEARCHED)),
        "logit_penalty": Between(1e-4, 1e-1, log=True),
    }

    softness: Annotated[float, Range(0, 100, above=True)] = 1.0
    """Temperature of the Gumbel softmax whose slope stands for that of an action taken."""
    logit_penalty: Annotated[float, Range(0, 100)] = 1e-3
    """Weight of the squared logits in the actor's loss: a policy that is too sure has no slope."""
    target_actions: Literal["best", "sampled"] = "best"
    """What the slow actor does in a target: its likeliest action, or one drawn from it (smoothing)."""


@dataclass(frozen=True)
class Matd3Settings(MaddpgSettings):
    """MATD3: MADDPG with two critics, smoothed targets, and an actor that waits for them."""

    section: ClassVar[str] = "matd3"
    twin: ClassVar[bool] = True
    actor_every: ClassVar[int] = 2
    searched: ClassVar[Mapping[str, Tried]] = {
        **MaddpgSettings.searched,
        "gradient_steps": OneOf(STEPS_SEARCHED),
    }

    target_actions: Literal["best", "sampled"] = "sampled"
    """What the slow actor does in a target: its likeliest action, or one drawn from it (smoothing)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gradient_steps % self.actor_every:
            raise BadInput(
                f"{self.section}.gradient_steps must be a multiple of {self.actor_every}, because the actor "
                f"takes one step for {self.actor_every} of its critics, not {self.gradient_steps}"
            )


@dataclass(frozen=True)
class MasacSettings(ReplayedSettings):
    """MASAC for a choice of actions: exact expectations, and a temperature that finds itself."""

    section: ClassVar[str] = "masac"
    central: ClassVar[CentralKind] = "alternatives"
    twin: ClassVar[bool] = True
    actor_every: ClassVar[int] = 1
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "learner": {"temperature": "temperature", **TOLD_OF_ALL},
        "teacher": TEACHER_HEADLINES,
    }
    searched: ClassVar[Mapping[str, Tried]] = {
        **SEARCHED_BY_ALL,
        "gradient_steps": OneOf((1, *STEPS_SEARCHED)),
        "target_entropy": OneOf((0.1, 0.2, 0.3, 0.5)),
    }

    target_entropy: Share = 0.2
    """The entropy that policies are held at, as a share of the greatest, log |A|."""
    temperature: Annotated[float, Range(0, 1000, above=True)] = 0.1
    """α at first: what entropy is worth, in deviations of the value."""
    temperature_rate: ShareAboveNone = 3e-3
    """Step size of log α."""


ActorCriticSettings = MaddpgSettings | MasacSettings
