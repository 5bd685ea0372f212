"""Critics of actions: what it is worth that a team does something, or that a member did something else.

Tokens, and with them the contexts that agents learn, come from observations alone; actions enter after them,
on the way to the value. Whoever is absent does nothing, and means are over those who are there.
"""

import abc
from dataclasses import replace
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from pc3d.experiment.algorithm_settings import CentralKind
from pc3d.experiment.network_settings import CriticSettings
from pc3d.networks.critics import (
    Critic,
    CriticInputs,
    TeachingCritic,
    TeamView,
    beside,
    flat,
    joint_view,
)
from pc3d.networks.layers import Mlp
from pc3d.networks.teacher import Teacher


class TwinCritic(Critic):
    """Two whole critics that share nothing: the lower word is less often too high. The first one teaches."""

    first: Critic
    second: Critic

    def __init__(self, first: Critic, second: Critic) -> None:
        self.first, self.second = first, second

    @property
    def held_teacher(self) -> Teacher | None:
        return self.first.held_teacher

    def __call__(self, view: TeamView) -> Float[Array, "..."]:
        return jnp.minimum(self.first(view), self.second(view))


def each_of(critic: Critic) -> tuple[Critic, ...]:
    """The critics by themselves, the one that teaches first."""
    return (critic.first, critic.second) if isinstance(critic, TwinCritic) else (critic,)


class JointActionCritic(Critic):
    """MADDPG: Q(o, a) from all observations and actions side by side, padded to the largest team."""

    kind: ClassVar[CentralKind] = "joint action"
    head: Mlp
    largest_team: int = eqx.field(static=True)

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        self.largest_team = inputs.largest_team
        width = _joint_width(inputs) + inputs.global_state
        self.head = Mlp(key, (width, *settings.widths, 1), inputs.activation)

    def __call__(self, view: TeamView) -> Float[Array, "..."]:
        joint = joint_view(_with_actions(view), self.largest_team)
        return self.head(beside(joint, view.global_state))[..., 0]


class JointAlternatives(Critic):
    """MASAC: Q_i(· | o, a_{−i}) from the agent's observation, all observations and others' actions, padded.

    The one action that is missing tells whose values they are.
    """

    kind: ClassVar[CentralKind] = "alternatives"
    head: Mlp
    largest_team: int = eqx.field(static=True)

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        self.largest_team = inputs.largest_team
        width = inputs.observation + _joint_width(inputs) + inputs.global_state
        self.head = Mlp(key, (width, *settings.widths, inputs.actions), inputs.activation)

    def __call__(self, view: TeamView) -> Float[Array, "... agent action"]:
        seen, agents = view.clean_observations, view.present.shape[-1]
        around = _for_each(replace(view, observations=seen), agents)
        others = (1 - jnp.eye(agents))[..., None] * _actions(around)
        joint = joint_view(_with_actions(replace(around, actions=others)), self.largest_team)
        return self.head(beside(seen, joint, around.global_state))


class TokenActions(TeachingCritic):
    """What both critics with PC3D's tokens have: the teacher, and an encoding of who does what."""

    to_deed: Mlp

    def __init__(
        self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings, more: int, outputs: int
    ) -> None:
        """`more`: how many numbers the head is told besides tokens, team size and global state."""
        teacher_key, deed_key, head_key = jax.random.split(key, 3)
        embedding = settings.set_embed_dim
        self.teacher = Teacher(teacher_key, inputs.observation, settings, inputs.activation)
        deeds = (embedding + inputs.actions, embedding)
        self.to_deed = Mlp(deed_key, deeds, inputs.activation, activate_output=True)
        self.team_size_feature, self.largest_team = settings.team_size_feature, inputs.largest_team
        width = settings.tokens * embedding + settings.team_size_feature + inputs.global_state + more
        self.head = Mlp(head_key, (width, *settings.widths, outputs), inputs.activation)

    def deeds(
        self, view: TeamView, encodings: Float[Array, "... agent embedding"]
    ) -> Float[Array, "... agent embedding"]:
        """u_i = ψ([e_i; a_i]); zero where nobody is."""
        return jnp.where(view.present[..., None], self.to_deed(beside(encodings, _actions(view))), 0)

    @abc.abstractmethod
    def __call__(self, view: TeamView) -> Float[Array, "..."]: ...


class TokenActionCritic(TokenActions):
    """PC3D in MADDPG: Q(o, a) from the tokens, and from deeds that the same attention reads."""

    kind: ClassVar[CentralKind] = "joint action"

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        super().__init__(key, inputs, settings, settings.tokens * settings.set_embed_dim, 1)

    def __call__(self, view: TeamView) -> Float[Array, "..."]:
        encodings = view.of_each(self.teacher.encodings)
        tokens, attention = self.teacher.tokens(encodings, view.present)
        deeds = jnp.einsum("...nk,...nd->...kd", attention, self.deeds(view, encodings))
        read = beside(flat(tokens), flat(deeds), self.team_size(view), view.global_state)
        return self.head(read)[..., 0]


class TokenAlternatives(TokenActions):
    """PC3D in MASAC: Q_i(· | o, a_{−i}) from the agent's encoding, the tokens, and others' mean deed."""

    kind: ClassVar[CentralKind] = "alternatives"

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        super().__init__(key, inputs, settings, 2 * settings.set_embed_dim, inputs.actions)

    def __call__(self, view: TeamView) -> Float[Array, "... agent action"]:
        encodings, agents = view.of_each(self.teacher.encodings), view.present.shape[-1]
        tokens, _ = self.teacher.tokens(encodings, view.present)
        # Not the sum of all without one's own, whose rounding would tell of it.
        others = jnp.einsum("ij,...jd->...id", 1 - jnp.eye(agents), self.deeds(view, encodings))
        teammates = jnp.maximum(jnp.sum(view.present, axis=-1) - 1, 1.0)
        of_team = beside(flat(tokens), self.team_size(view), view.global_state)
        return self.head(beside(encodings, _repeated(of_team, agents), others / teammates[..., None, None]))


ACTION_CRITICS: dict[str, type[Critic]] = {
    "joint-action": JointActionCritic,
    "token-action": TokenActionCritic,
    "joint-alternatives": JointAlternatives,
    "token-alternatives": TokenAlternatives,
}


def _joint_width(inputs: CriticInputs) -> int:
    return inputs.largest_team * (inputs.observation + inputs.actions + 1)


def _actions(view: TeamView) -> Float[Array, "... agent action"]:
    """Zero where nobody is: whatever an empty slot would do cannot matter."""
    assert view.actions is not None, "a critic of actions needs some"
    return jnp.where(view.present[..., None], view.actions, 0)


def _with_actions(view: TeamView) -> TeamView:
    """Everybody's action as if it were seen beside the rest."""
    return replace(view, observations=beside(view.clean_observations, _actions(view)), actions=None)


def _for_each(view: TeamView, agents: int) -> TeamView:
    """The same view for every agent, with an axis more."""
    present = jnp.broadcast_to(view.present[..., None, :], (*view.present.shape[:-1], agents, agents))

    def again(rows: Float[Array, "... agent _"]) -> Float[Array, "... agent agent _"]:
        shape = (*rows.shape[:-2], agents, *rows.shape[-2:])
        return jnp.broadcast_to(rows[..., None, :, :], shape)

    state = None if view.global_state is None else _repeated(view.global_state, agents)
    return TeamView(again(view.observations), present, None, state, actions=again(_actions(view)))


def _repeated(features: Float[Array, "... _"], agents: int) -> Float[Array, "... agent _"]:
    return jnp.broadcast_to(features[..., None, :], (*features.shape[:-1], agents, features.shape[-1]))
