"""The objective: the squared error of the team's value + λ_distill distillation."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Shaped

from pc3d.experiment.entity_settings import RefilSettings
from pc3d.experiment.experiment import Experiment
from pc3d.learners.distillation import distance_from_teacher, weight_of
from pc3d.learners.experience import Counts, decisions_of, said_by, seen_in, sum_of
from pc3d.learners.q_learning.imagination import imagined_values
from pc3d.learners.q_learning.soft_policy import Reference, SoftPolicy
from pc3d.learners.targets import targets_of
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.build import Networks
from pc3d.networks.critics import Critic, TeamView
from pc3d.networks.entity_groups import Groups
from pc3d.play.choosing import of_action, only_allowed
from pc3d.play.episode import Episode


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
    imagined: Float[Array, ""] | None = None  # the loss of a value that is imagined from groups
    information: Float[Array, ""] | None = None  # nats by which a policy leaves its reference
    entropy: Float[Array, ""] | None = None  # of that policy


class Given(eqx.Module):
    """What a gradient step takes as it is."""

    slow: Networks
    scale: ValueScale
    roster_changes: bool = eqx.field(static=True)
    reference: Reference | None = None
    """What policies may leave at a cost; None where everybody takes its best action."""


def objective(
    experiment: Experiment,
    networks: Networks,
    given: Given,
    episodes: Episode,
    counts: Counts,
    groups: Groups | None = None,
) -> LossParts:
    """What some episodes add to the loss of their minibatch.

    Means are over steps of teams; of contexts and gates over valid agent-time pairs.
    """
    seen, scale, decisions = seen_in(episodes), given.scale, decisions_of(episodes)
    shown = networks.shown(seen, jnp.asarray(episodes.present))
    now = said_by(networks.actor, episodes, shown, roster_changes=given.roster_changes)
    taken = of_action(now.logits[:, :-1], episodes.actions)
    values = _team_values(networks.critic, episodes, seen, taken, slice(None, -1))
    soft = _soft_policy(given, episodes, seen, now.logits)
    targets = _targets(experiment, given, episodes, seen, now.logits, soft)
    told = scale.stretch(jax.lax.stop_gradient(values))

    def mean(parts: Shaped[Array, "..."]) -> Float[Array, ""]:
        return sum_of(parts, episodes.played) / counts.team_steps

    def of_agents(parts: Shaped[Array, "..."]) -> Float[Array, ""]:
        return sum_of(parts, decisions) / counts.decisions

    value_loss = mean((values - scale.shrink(targets)) ** 2)
    teacher, present = given.slow.critic.held_teacher, jnp.asarray(episodes.present[:, :-1])
    distillation = of_agents(distance_from_teacher(experiment, now, teacher, seen, present))
    gates = jnp.zeros(decisions.shape) if now.gate is None else jax.lax.stop_gradient(now.gate[:, :-1])
    own_loss, imagined = value_loss, None
    if groups is not None:
        thought = imagined_values(networks, episodes, seen, groups, roster_changes=given.roster_changes)
        imagined = mean((thought - scale.shrink(targets)) ** 2)
        own_loss = _with_imagined(experiment, value_loss, imagined)
    return LossParts(
        total=own_loss + weight_of(experiment) * distillation,
        value=value_loss,
        distillation=distillation,
        gate=of_agents(gates),
        gate_square=of_agents(gates**2),
        said=mean(told),
        off=mean(jnp.abs(told - targets)),
        target=mean(targets),
        target_square=mean(targets**2),
        imagined=imagined,
        information=None if soft is None else of_agents(soft.information[:, :-1]),
        entropy=None if soft is None else of_agents(soft.entropy[:, :-1]),
    )


def _with_imagined(
    experiment: Experiment, value_loss: Float[Array, ""], imagined: Float[Array, ""]
) -> Float[Array, ""]:
    settings = experiment.algorithm
    assert isinstance(settings, RefilSettings)
    return (1 - settings.imagination) * value_loss + settings.imagination * imagined


def _soft_policy(given: Given, episodes: Episode, seen: Array, online: Array) -> SoftPolicy | None:
    """Of the learning network, at every moment; a constant for the gradient."""
    if given.reference is None:
        return None
    changes = given.roster_changes
    return jax.lax.stop_gradient(given.reference.policy(episodes, seen, online, roster_changes=changes))


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
    soft: SoftPolicy | None,
) -> Float[Array, "episode time"]:
    """In the task's own scale, whichever the networks have; constants for the gradient."""
    shown = given.slow.shown(seen, jnp.asarray(episodes.present))
    later = said_by(given.slow.actor, episodes, shown, roster_changes=given.roster_changes).logits
    allowed = None if episodes.allowed is None else episodes.allowed[:, 1:]
    if soft is None:
        utilities = double_q(only_allowed(online[:, 1:], allowed), later[:, 1:])
    else:
        utilities = soft.expected(later)[:, 1:]
    values = given.scale.stretch(_team_values(given.slow.critic, episodes, seen, utilities, slice(1, None)))
    costs = None if soft is None else _costs(given, episodes, soft)
    return jax.lax.stop_gradient(
        targets_of(experiment, episodes, values if costs is None else values + costs, costs)
    )


def _costs(given: Given, episodes: Episode, soft: SoftPolicy) -> Float[Array, "episode time"]:
    """−(α / n) Σ_i KL(π_i ‖ p_i) of the moment after each step, in the task's own scale, as targets are."""
    assert given.reference is not None
    there = jnp.asarray(episodes.present[:, 1:])
    nats = jnp.sum(jnp.where(there, soft.information[:, 1:], 0), axis=-1)
    each = given.reference.cost * given.scale.deviation
    return -each * nats / jnp.maximum(jnp.sum(there, axis=-1), 1)


def double_q(online: Float[Array, "... action"], slow: Float[Array, "... action"]) -> Float[Array, "..."]:
    """What the slow copy thinks of the action that the learning network would take."""
    return of_action(slow, jnp.argmax(online, axis=-1))
