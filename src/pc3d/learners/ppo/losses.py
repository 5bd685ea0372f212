"""The objective (the paper's Eq. 5): PPO + λ_V value − λ_H entropy + λ_distill distillation."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Shaped

from pc3d.experiment.experiment import Experiment
from pc3d.learners.distillation import huber, reduced, weight_of
from pc3d.learners.ppo.packing import Piece
from pc3d.learners.ppo.settings import ppo_of
from pc3d.networks.build import Networks
from pc3d.networks.conditioning import PolicyOutput
from pc3d.networks.context_health import Measures, student_sums
from pc3d.networks.critics import TeamView
from pc3d.networks.talking_actor import TalkingActor
from pc3d.play.choosing import acting_of


class LossParts(eqx.Module):
    """The terms of the objective and what is worth watching beside them."""

    total: Float[Array, ""]
    policy: Float[Array, ""]
    value: Float[Array, ""]
    entropy: Float[Array, ""]
    distillation: Float[Array, ""]
    gate: Float[Array, ""]
    gate_square: Float[Array, ""]
    clipped: Float[Array, ""]
    divergence: Float[Array, ""]
    students: Measures
    """Sums, not means, of how contexts were met; nothing without contexts."""


class Counts(eqx.Module):
    """What a minibatch's means are over."""

    decisions: Float[Array, ""]
    team_steps: Float[Array, ""]
    left: Float[Array, ""]
    """Of the learning rate, as a share."""


def objective(networks: Networks, piece: Piece, experiment: Experiment, counts: Counts) -> LossParts:
    """What a piece adds to the loss of its minibatch.

    Means are over valid agent-time pairs; a central value's over steps.
    """
    ppo, decisions = ppo_of(experiment), piece.decisions
    features = networks.actor.remember(piece.first_memory, piece.observations, piece.fresh)
    view = TeamView(piece.observations, piece.present, features, piece.global_states, piece.seating)
    policy = _said(networks, piece, features, view)
    distribution = acting_of(networks.actor).distribution(policy.logits, piece.allowed)
    ratio_log = distribution.log_probability(piece.actions) - piece.log_probabilities
    ratio = jnp.exp(jnp.where(decisions, ratio_log, 0))

    def mean(values: Shaped[Array, "..."]) -> Float[Array, ""]:
        return _sum(values, decisions) / counts.decisions

    policy_loss = -mean(clipped_objective(ratio, piece.advantages, ppo.clip))
    entropy = mean(distribution.entropy())
    value_loss = _value_loss(networks, piece, view, experiment, counts)
    distillation, students = jnp.zeros(()), {}
    if policy.context is not None and piece.teacher_contexts is not None and piece.teammates is not None:
        apart = huber(policy.context - piece.teacher_contexts, experiment.recipe.huber_delta)
        distillation = mean(reduced(apart, experiment.recipe.huber_reduction))
        said = jax.lax.stop_gradient(policy.context)
        students = student_sums(said, piece.teacher_contexts, piece.teammates, decisions)
    gates = jnp.zeros(decisions.shape) if policy.gate is None else jax.lax.stop_gradient(policy.gate)
    return LossParts(
        total=policy_loss
        + ppo.value_coefficient * value_loss
        - ppo.entropy_coefficient * entropy
        + weight_of(experiment) * (counts.left if experiment.recipe.distillation_falls else 1) * distillation,
        policy=policy_loss,
        value=value_loss,
        entropy=entropy,
        distillation=distillation,
        gate=mean(gates),
        gate_square=mean(gates**2),
        clipped=mean(jnp.abs(ratio - 1) > ppo.clip),
        divergence=mean(ratio - 1 - ratio_log),
        students=students,
    )


def _said(networks: Networks, piece: Piece, features: Array, view: TeamView) -> PolicyOutput:
    """By everybody alone; or, of agents that talk, by whole teams, which is what a piece is made of."""
    if not isinstance(networks.actor, TalkingActor):
        return networks.says(features, view)
    assert piece.links is not None
    policy, _ = networks.actor.says_among(features, piece.links, piece.seating)
    return policy


def clipped_objective(
    ratio: Float[Array, "..."], advantages: Float[Array, "..."], clip: float
) -> Float[Array, "..."]:
    """PPO's pessimistic choice between the ratio and the clipped ratio."""
    return jnp.minimum(ratio * advantages, jnp.clip(ratio, 1 - clip, 1 + clip) * advantages)


def _value_loss(
    networks: Networks, piece: Piece, view: TeamView, experiment: Experiment, counts: Counts
) -> Float[Array, ""]:
    values = networks.critic(view)
    loss = (values - piece.value_targets) ** 2
    if experiment.recipe.clip_values:
        clip = ppo_of(experiment).clip
        near = piece.values + jnp.clip(values - piece.values, -clip, clip)
        loss = jnp.maximum(loss, (near - piece.value_targets) ** 2)
    if networks.critic.local:
        return _sum(loss, piece.decisions) / counts.decisions
    return _sum(loss, piece.played) / counts.team_steps


def _sum(values: Shaped[Array, "..."], real: Bool[Array, "..."]) -> Float[Array, ""]:
    """Over what is real; `where` first, so that NaN in padding stays there."""
    return jnp.sum(jnp.where(real, values, 0.0))
