"""The four value functions. Three see the whole team; IPPO's sees what one agent remembers."""

import abc
from collections.abc import Callable
from functools import partial
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from pc3d.experiment.algorithm_settings import CentralKind, CoachSettings, MixingSettings
from pc3d.experiment.network_settings import CriticSettings
from pc3d.networks.entity_attention import EntityInputs
from pc3d.networks.layers import Activation, Dense, Mlp
from pc3d.networks.seating import Seating
from pc3d.networks.teacher import Teacher, encoded, set_encoder


class TeamView(eqx.Module):
    """All a critic may look at, at each moment."""

    observations: Float[Array, "... observation"]  # of (..., agent), or of rows with a seating
    present: Bool[Array, "... agent"]
    features: Float[Array, "... feature"] | None = None  # the actor's, for a local critic
    global_state: Float[Array, "... state"] | None = None
    seating: Seating | None = None
    """Where agents come in rows, without empty slots: which of them make up which team."""
    utilities: Float[Array, "... agent"] | None = None  # of the actions taken, for a mixer
    actions: Float[Array, "... agent action"] | None = None
    """What everybody does, for a critic of actions: a 1 for it, zeros beside it."""

    @property
    def clean_observations(self) -> Float[Array, "... agent observation"]:
        """Zero where nobody is, so that the content of padded slots cannot matter."""
        seen = self.observations if self.seating is None else self.seating.of_teams(self.observations)
        return jnp.where(self.present[..., None], seen, 0)

    def of_each(self, encode: Callable[[Array], Array]) -> Float[Array, "... agent encoding"]:
        """What a function makes of each agent's observation; anything where nobody is."""
        if self.seating is None:
            return encode(self.clean_observations)
        return self.seating.of_teams(encode(self.observations))

    def for_each(self, of_team: Float[Array, "... width"]) -> Float[Array, "... width"]:
        """What there is of a team, for each of its agents, in the order in which observations come."""
        if self.seating is not None:
            return self.seating.for_members(of_team)
        shape = (*self.present.shape, of_team.shape[-1])
        return jnp.broadcast_to(of_team[..., None, :], shape)


class CriticInputs(eqx.Module):
    """The sizes a critic is built for."""

    observation: int = eqx.field(static=True)
    features: int = eqx.field(static=True)
    global_state: int = eqx.field(static=True)  # 0 where it is not used
    largest_team: int = eqx.field(static=True)
    activation: Activation = eqx.field(static=True)
    mixing: MixingSettings | None = eqx.field(static=True, default=None)  # of a mixer
    entities: EntityInputs | None = eqx.field(static=True, default=None)  # where it attends to them
    actions: int = eqx.field(static=True, default=0)  # how many there are, for a critic of actions
    coach: CoachSettings | None = eqx.field(static=True, default=None)  # where it tells agents something


class Critic(eqx.Module):
    """A value function of the team, or of each agent where `local`."""

    local: ClassVar[bool] = False
    teaches: ClassVar[bool] = False  # whether `held_teacher` is there for methods that distil
    kind: ClassVar[CentralKind] = "state"  # what it values

    @property
    def held_teacher(self) -> Teacher | None:
        """The part that agents' contexts are distilled from."""
        return None

    @abc.abstractmethod
    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None: ...

    @abc.abstractmethod
    def __call__(self, view: TeamView) -> Float[Array, "..."]:
        """The value at each moment; with a last axis over agents where `local`."""


class LocalCritic(Critic):
    """IPPO: a linear head on the actor's recurrent features."""

    local: ClassVar[bool] = True
    head: Dense

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        del settings
        self.head = Dense(key, inputs.features, 1)

    def __call__(self, view: TeamView) -> Float[Array, "... agent"]:
        assert view.features is not None
        return self.head(view.features)[..., 0]


class JointCritic(Critic):
    """MAPPO: all observations side by side, padded to the largest admitted team, with the active mask."""

    head: Mlp
    largest_team: int = eqx.field(static=True)

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        self.largest_team = inputs.largest_team
        width = self.largest_team * (inputs.observation + 1) + inputs.global_state
        self.head = _value_head(key, width, inputs, settings)

    def __call__(self, view: TeamView) -> Float[Array, "..."]:
        return self.head(beside(joint_view(view, self.largest_team), view.global_state))[..., 0]


class MeanCritic(Critic):
    """PIC-MAPPO: the mean of the agents' encodings."""

    encoder: Mlp
    head: Mlp
    normalise: bool = eqx.field(static=True)
    team_size_feature: bool = eqx.field(static=True)
    largest_team: int = eqx.field(static=True)

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        encoder_key, head_key = jax.random.split(key)
        self.encoder = set_encoder(encoder_key, inputs.observation, settings, inputs.activation)
        self.normalise = settings.normalise_encodings
        self.team_size_feature, self.largest_team = settings.team_size_feature, inputs.largest_team
        width = settings.set_embed_dim + settings.team_size_feature + inputs.global_state
        self.head = _value_head(head_key, width, inputs, settings)

    def __call__(self, view: TeamView) -> Float[Array, "..."]:
        encodings = view.of_each(partial(encoded, self.encoder, normalise=self.normalise))
        mean = jnp.mean(encodings, axis=-2, where=view.present[..., None])
        size = team_share(view.present, self.largest_team) if self.team_size_feature else None
        return self.head(beside(mean, size, view.global_state))[..., 0]


class TeachingCritic(Critic):
    """A head on what the teacher reads; the teacher learns from the value loss alone."""

    teaches: ClassVar[bool] = True
    teacher: Teacher
    head: Mlp
    team_size_feature: bool = eqx.field(static=True)
    largest_team: int = eqx.field(static=True)

    @property
    def held_teacher(self) -> Teacher:
        return self.teacher

    def team_size(self, view: TeamView) -> Float[Array, "... 1"] | None:
        """As the head is told it, if it is."""
        return team_share(view.present, self.largest_team) if self.team_size_feature else None


class TokenCritic(TeachingCritic):
    """PC3D: the coordination tokens, concatenated."""

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        teacher_key, head_key = jax.random.split(key)
        self.teacher = Teacher(teacher_key, inputs.observation, settings, inputs.activation)
        self.team_size_feature, self.largest_team = settings.team_size_feature, inputs.largest_team
        width = settings.tokens * settings.set_embed_dim + settings.team_size_feature + inputs.global_state
        self.head = _value_head(head_key, width, inputs, settings)

    def __call__(self, view: TeamView) -> Float[Array, "..."]:
        tokens, _ = self.teacher.tokens(view.of_each(self.teacher.encodings), view.present)
        return self.head(beside(flat(tokens), self.team_size(view), view.global_state))[..., 0]


CRITICS: dict[str, type[Critic]] = {
    "local": LocalCritic,
    "joint": JointCritic,
    "mean": MeanCritic,
    "tokens": TokenCritic,
}


def _value_head(key: PRNGKeyArray, width: int, inputs: CriticInputs, settings: CriticSettings) -> Mlp:
    return Mlp(key, (width, *settings.widths, 1), inputs.activation)


def joint_view(view: TeamView, largest: int) -> Float[Array, "... joint"]:
    """All observations side by side, each with whether somebody is there, padded to the largest team."""
    joint = jnp.concatenate([view.clean_observations, view.present[..., None]], axis=-1)
    missing = largest - view.present.shape[-1]
    joint = jnp.pad(joint, [(0, 0)] * (joint.ndim - 2) + [(0, missing), (0, 0)])
    return joint.reshape(*joint.shape[:-2], -1)


def team_share(present: Bool[Array, "... agent"], largest: int) -> Float[Array, "... 1"]:
    """The team size as a share of the largest, so that it is of the size of the other features."""
    return jnp.sum(present, axis=-1, keepdims=True) / largest


def flat(tokens: Float[Array, "... token embedding"]) -> Float[Array, "... _"]:
    """All tokens of a moment in a row."""
    return tokens.reshape(*tokens.shape[:-2], -1)


def beside(features: Float[Array, "... _"], *more: Float[Array, "... _"] | None) -> Float[Array, "... _"]:
    """Some features and whatever there is of others."""
    return jnp.concatenate([features, *(part for part in more if part is not None)], axis=-1)
