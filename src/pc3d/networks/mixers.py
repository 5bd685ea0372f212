"""Mixers: what a team does is worth a monotone mean of what its members' actions are worth to them.

Q_tot never falls when a utility rises, so that the best joint action is everybody's own best one. Whoever is
absent weighs exactly nothing, and sums are divided by how many are there: a value's size is no matter of
the team's. Weights come from observations alone, never from actions.
"""

import abc
from functools import partial
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from pc3d.experiment.algorithm_settings import CentralKind, MixingSettings
from pc3d.experiment.network_settings import CriticSettings
from pc3d.networks.critics import Critic, CriticInputs, TeamView, beside, joint_view, team_share
from pc3d.networks.layers import Activation, Dense, Mlp
from pc3d.networks.teacher import Teacher, encoded, set_encoder

HYPERNETWORK_GAIN = 0.1  # of fresh weights, beside the constant that all of them begin with


class Mixer(Critic):
    """The team's value from what its members think their own actions are worth."""

    kind: ClassVar[CentralKind] = "mixer"


class MeanUtility(Mixer):
    """VDN: Q_tot = (1/n) Σ_i Q_i. Nothing to learn."""

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        del key, inputs, settings

    def __call__(self, view: TeamView) -> Float[Array, "..."]:
        return jnp.sum(utilities_of(view), axis=-1) / _count(view)


class Hypernetwork(eqx.Module):
    """Weights that cannot be negative, made from what is seen of a team; fresh ones are nearly alike.

    All begin near 1/√m, far from zero, where an absolute value would lose its gradient's direction. The two
    layers of weights then multiply to 1: a fresh mixer is close to the mean of utilities.
    """

    layers: Mlp
    width: int = eqx.field(static=True)
    shares: bool = eqx.field(static=True)

    def __init__(
        self, key: PRNGKeyArray, inputs: int, rows: int, activation: Activation, mixing: MixingSettings
    ) -> None:
        self.width, self.shares = mixing.width, mixing.weights == "softmax"
        widths = (inputs, *mixing.hypernetwork_widths, rows * mixing.width)
        made = Mlp(key, widths, activation, output_gain=HYPERNETWORK_GAIN)
        start = jnp.full(widths[-1], 0.0 if self.shares else mixing.width**-0.5, made.layers[-1].bias.dtype)
        self.layers = eqx.tree_at(lambda mlp: mlp.layers[-1].bias, made, start)

    def __call__(self, seen: Float[Array, "... input"]) -> Float[Array, "... row width"]:
        raw = self.layers(seen)
        raw = raw.reshape(*raw.shape[:-1], -1, self.width)
        return self.width**0.5 * jax.nn.softmax(raw) if self.shares else jnp.abs(raw)


class MonotoneMixer(Mixer):
    """QMIX: Q_tot = w₂ᵀ ELU((1/n) Σ_i w_i Q_i + b) + V, with w_i ≥ 0 and w₂ ≥ 0.

    Subclasses say what is seen of the team, and what the weights of each agent are made from.
    """

    to_rows: Hypernetwork
    to_offset: Dense
    to_weights: Hypernetwork
    to_value: Mlp

    def __init__(
        self,
        key: PRNGKeyArray,
        inputs: CriticInputs,
        settings: CriticSettings,
        of_agent: int,
        of_team: int,
        rows: int = 1,
    ) -> None:
        """`of_agent` and `of_team`: how many numbers weights of agents, and all else, are made from."""
        mixing, activation = inputs.mixing, inputs.activation
        assert mixing is not None
        rows_key, offset_key, weights_key, value_key = jax.random.split(key, 4)
        self.to_rows = Hypernetwork(rows_key, of_agent, rows, activation, mixing)
        self.to_offset = Dense(offset_key, of_team, mixing.width, HYPERNETWORK_GAIN)
        self.to_weights = Hypernetwork(weights_key, of_team, 1, activation, mixing)
        # The global state may tell the value something, but nothing to whatever shapes contexts.
        self.to_value = Mlp(value_key, (of_team + inputs.global_state, *settings.widths, 1), activation)

    @abc.abstractmethod
    def seen(self, view: TeamView) -> tuple[Float[Array, "... agent width"], Float[Array, "... team"]]:
        """The weights of everybody's utility, anything where nobody is; and what is seen of the team."""

    def __call__(self, view: TeamView) -> Float[Array, "..."]:
        rows, team = self.seen(view)
        return self.mixed(weighed(view, rows, utilities_of(view)), team, view.global_state)

    def mixed(
        self,
        mean: Float[Array, "... width"],
        team: Float[Array, "... team"],
        state: Float[Array, "... state"] | None = None,
    ) -> Float[Array, "..."]:
        """The team's value, from the weighed mean of its utilities and what is seen of it."""
        hidden = jax.nn.elu(mean + self.to_offset(team))
        value = self.to_value(beside(team, state))[..., 0]
        return jnp.sum(self.to_weights(team)[..., 0, :] * hidden, axis=-1) + value


class JointMixer(MonotoneMixer):
    """QMIX as it is for teams that never change: all observations side by side, weights by slot."""

    largest_team: int = eqx.field(static=True)

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        self.largest_team = inputs.largest_team
        width = self.largest_team * (inputs.observation + 1)
        super().__init__(key, inputs, settings, width, width, rows=self.largest_team)

    def seen(self, view: TeamView) -> tuple[Float[Array, "... agent width"], Float[Array, "... team"]]:
        joint = joint_view(view, self.largest_team)
        return self.to_rows(joint)[..., : view.present.shape[-1], :], joint


class SetMixer(MonotoneMixer):
    """An agent's weights from its own encoding beside a summary of the team, in any order of its members."""

    team_size_feature: bool = eqx.field(static=True)
    largest_team: int = eqx.field(static=True)

    def __init__(
        self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings, summary: int
    ) -> None:
        self.team_size_feature, self.largest_team = settings.team_size_feature, inputs.largest_team
        of_team = summary + settings.team_size_feature
        super().__init__(key, inputs, settings, settings.set_embed_dim + summary, of_team)

    @abc.abstractmethod
    def read(self, view: TeamView) -> tuple[Float[Array, "... agent embedding"], Float[Array, "... summary"]]:
        """Everybody's encoding, and the summary."""

    def seen(self, view: TeamView) -> tuple[Float[Array, "... agent width"], Float[Array, "... team"]]:
        encodings, summary = self.read(view)
        everywhere = jnp.broadcast_to(summary[..., None, :], (*encodings.shape[:-1], summary.shape[-1]))
        size = team_share(view.present, self.largest_team) if self.team_size_feature else None
        return self.to_rows(beside(encodings, everywhere))[..., 0, :], beside(summary, size)


class MeanMixer(SetMixer):
    """PIC's set in QMIX's place for the state: the mean of encodings."""

    encoder: Mlp
    normalise: bool = eqx.field(static=True)

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        encoder_key, mixer_key = jax.random.split(key)
        self.encoder = set_encoder(encoder_key, inputs.observation, settings, inputs.activation)
        self.normalise = settings.normalise_encodings
        super().__init__(mixer_key, inputs, settings, settings.set_embed_dim)

    def read(self, view: TeamView) -> tuple[Float[Array, "... agent embedding"], Float[Array, "... summary"]]:
        encodings = view.of_each(partial(encoded, self.encoder, normalise=self.normalise))
        return encodings, jnp.mean(encodings, axis=-2, where=view.present[..., None])


class TokenMixer(SetMixer):
    """PC3D in QMIX: coordination tokens make every weight; the teacher learns from the team's value alone."""

    teaches: ClassVar[bool] = True
    teacher: Teacher

    @property
    def held_teacher(self) -> Teacher:
        return self.teacher

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        teacher_key, mixer_key = jax.random.split(key)
        self.teacher = Teacher(teacher_key, inputs.observation, settings, inputs.activation)
        super().__init__(mixer_key, inputs, settings, settings.tokens * settings.set_embed_dim)

    def read(self, view: TeamView) -> tuple[Float[Array, "... agent embedding"], Float[Array, "... summary"]]:
        encodings = view.of_each(self.teacher.encodings)
        tokens, _ = self.teacher.tokens(encodings, view.present)
        return encodings, tokens.reshape(*tokens.shape[:-2], -1)


MIXERS: dict[str, type[Critic]] = {
    "mean-utility": MeanUtility,
    "joint-mixer": JointMixer,
    "mean-mixer": MeanMixer,
    "token-mixer": TokenMixer,
}


def weighed(
    view: TeamView, rows: Float[Array, "... agent width"], utilities: Float[Array, "... agent"]
) -> Float[Array, "... width"]:
    """(1/n) Σ_i w_i Q_i; whoever is absent weighs nothing."""
    rows = jnp.where(view.present[..., None], rows, 0)
    return jnp.einsum("...nm,...n->...m", rows, utilities) / _count(view)[..., None]


def utilities_of(view: TeamView) -> Float[Array, "... agent"]:
    """Zero where nobody is: whatever an empty slot would say cannot matter."""
    assert view.utilities is not None, "a mixer needs something to mix"
    return jnp.where(view.present, view.utilities, 0)


def _count(view: TeamView) -> Float[Array, "..."]:
    """How many are there; a team of nobody is worth nothing, whatever it is divided by."""
    return jnp.maximum(jnp.sum(view.present, axis=-1), 1.0)
