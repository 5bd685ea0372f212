"""The objective: the squared error of the team's value + λ_distill distillation."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Shaped

from pc3d.experiment.experiment import Experiment
from pc3d.learners.distillation import huber, reading_of, reduced, weight_of
from pc3d.learners.q_learning.targets import double_q, targets_of
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.build import Networks
from pc3d.networks.conditioning import PolicyOutput
from pc3d.networks.critics import Critic, TeamView
from pc3d.play.choosing import of_action, only_allowed
from pc3d.play.episode import Episode
from pc3d.play.presence import joined


class LossParts(eqx.Module):
    """The terms of the objective and what is worth watching beside them: what a piece adds to each mean."""

    total: Float[Array, ""]
    value: Float[Array, ""]  # the loss, on the networks' own scale
    distillation: Float[Array, ""]
    gate: Float[Array, ""]
    gate_square: Float[Array, ""]
    said: Float[Array, ""]  # the team's value; as all below in the task's scale
    off: Float[Array, ""]
    target: Float[Array, ""]
    target_square: Float[Array, ""]


class Counts(eqx.Module):
    """What a minibatch's means are over."""

    decisions: Float[Array, ""]
    team_steps: Float[Array, ""]

    @staticmethod
    def of(episodes: Episode) -> "Counts":
        """At least 1, as nothing is divided by nothing."""
        parts = (decisions_of(episodes), episodes.played)
        return Counts(*(jnp.maximum(jnp.sum(part), 1.0) for part in parts))


class Given(eqx.Module):
    """What a gradient step takes as it is."""

    slow: Networks
    scale: ValueScale
    roster_changes: bool = eqx.field(static=True)


def objective(
    experiment: Experiment, networks: Networks, given: Given, episodes: Episode, counts: Counts
) -> LossParts:
    """What some episodes add to the loss of their minibatch.

    Means are over steps of teams; of contexts and gates over valid agent-time pairs.
    """
    seen, scale, decisions = seen_in(episodes), given.scale, decisions_of(episodes)
    now = said_by(networks, episodes, seen, roster_changes=given.roster_changes)
    taken = of_action(now.logits[:, :-1], episodes.actions)
    values = _team_values(networks.critic, episodes, seen, taken, slice(None, -1))
    targets = _targets(experiment, given, episodes, seen, now.logits)
    told = scale.stretch(jax.lax.stop_gradient(values))

    def mean(parts: Shaped[Array, "..."]) -> Float[Array, ""]:
        return _sum(parts, episodes.played) / counts.team_steps

    def of_agents(parts: Shaped[Array, "..."]) -> Float[Array, ""]:
        return _sum(parts, decisions) / counts.decisions

    value_loss = mean((values - scale.shrink(targets)) ** 2)
    distillation = of_agents(_apart(experiment, now, given.slow, episodes, seen))
    gates = jnp.zeros(decisions.shape) if now.gate is None else jax.lax.stop_gradient(now.gate[:, :-1])
    return LossParts(
        total=value_loss + weight_of(experiment) * distillation,
        value=value_loss,
        distillation=distillation,
        gate=of_agents(gates),
        gate_square=of_agents(gates**2),
        said=mean(told),
        off=mean(jnp.abs(told - targets)),
        target=mean(targets),
        target_square=mean(targets**2),
    )


def decisions_of(episodes: Episode) -> Bool[Array, "episode time agent"]:
    """The valid agent-time pairs: somebody was there and had to act."""
    return jnp.asarray(episodes.present[:, :-1] & episodes.played[:, :, None])


def seen_in(episodes: Episode) -> Float[Array, "episode moment agent observation"]:
    """What everybody saw; zero where nobody is, so that the content of padded slots cannot matter."""
    return jnp.where(episodes.present[..., None], episodes.observations, 0)


def said_by(networks: Networks, episodes: Episode, seen: Array, *, roster_changes: bool) -> PolicyOutput:
    """What the actor says at every moment, from nothing at the first."""
    fresh = joined(jnp.asarray(episodes.present)) if roster_changes else None
    return networks.actor.conditioning(networks.actor.over_episodes(seen, fresh))


def _team_values(
    mixer: Critic, episodes: Episode, seen: Array, utilities: Array, moments: slice
) -> Float[Array, "episode time"]:
    """Q_tot of some moments, from everybody's utilities at them."""
    states = None if episodes.global_states is None else episodes.global_states[:, moments]
    present = jnp.asarray(episodes.present[:, moments])
    return mixer(TeamView(seen[:, moments], present, None, states, utilities=utilities))


def _targets(
    experiment: Experiment,
    given: Given,
    episodes: Episode,
    seen: Array,
    online: Float[Array, "episode moment agent action"],
) -> Float[Array, "episode time"]:
    """In the task's own scale, whichever the networks have; constants for the gradient."""
    later = said_by(given.slow, episodes, seen, roster_changes=given.roster_changes).logits
    allowed = None if episodes.allowed is None else episodes.allowed[:, 1:]
    utilities = double_q(only_allowed(online[:, 1:], allowed), later[:, 1:])
    values = _team_values(given.slow.critic, episodes, seen, utilities, slice(1, None))
    return jax.lax.stop_gradient(targets_of(experiment, episodes, given.scale.stretch(values)))


def _apart(
    experiment: Experiment, now: PolicyOutput, slow: Networks, episodes: Episode, seen: Array
) -> Float[Array, "episode time agent"]:
    """How far the students' contexts are from the averaged teacher's."""
    present, recipe = jnp.asarray(episodes.present[:, :-1]), experiment.recipe
    reading = reading_of(experiment, slow.critic.held_teacher, seen[:, :-1], present)
    if now.context is None or reading is None:
        return jnp.zeros(present.shape)
    return reduced(huber(now.context[:, :-1] - reading.contexts, recipe.huber_delta), recipe.huber_reduction)


def _sum(values: Shaped[Array, "..."], real: Bool[Array, "..."]) -> Float[Array, ""]:
    """Over what is real; `where` first, so that NaN in padding stays there."""
    return jnp.sum(jnp.where(real, values, 0.0))
