"""The objective (the paper's Eq. 5): PPO + λ_V value − λ_H entropy + λ_distill distillation."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Shaped

from pc3d.experiment.methods import method_named
from pc3d.experiment.settings import Experiment
from pc3d.learners.ppo.sequences import Sequences
from pc3d.learners.ppo.settings import ppo_of
from pc3d.networks.build import Networks
from pc3d.networks.context_health import Measures, recovery
from pc3d.networks.critics import TeamView
from pc3d.play.choosing import log_probability_of


class LossParts(eqx.Module):
    """The terms of the objective and what is worth watching beside them."""

    total: Float[Array, ""]
    policy: Float[Array, ""]
    value: Float[Array, ""]
    entropy: Float[Array, ""]
    distillation: Float[Array, ""]
    gate: Float[Array, ""]
    gate_deviation: Float[Array, ""]
    recovery: Measures
    """Of the teacher's contexts, as the gradient step met them; nothing without contexts."""
    clipped: Float[Array, ""]
    divergence: Float[Array, ""]


def objective(networks: Networks, batch: Sequences, experiment: Experiment) -> LossParts:
    """The loss of one minibatch. Means are over valid agent-time pairs; a central value's over steps."""
    ppo, decisions = ppo_of(experiment), batch.decisions
    observations = jnp.where(batch.present[..., None], batch.observations, 0)
    features = networks.actor.remember(batch.first_memory, observations, batch.fresh)
    policy = networks.actor.conditioning(features)
    log_probabilities = jax.nn.log_softmax(policy.logits)
    ratio_log = log_probability_of(log_probabilities, batch.actions) - batch.log_probabilities
    ratio = jnp.exp(jnp.where(decisions, ratio_log, 0))
    policy_loss = -_mean(clipped_objective(ratio, batch.advantages, ppo.clip), decisions)
    entropy = _mean(-jnp.sum(jnp.exp(log_probabilities) * log_probabilities, axis=-1), decisions)
    value_loss = _value_loss(networks, batch, features, experiment)
    distillation, recovered = jnp.zeros(()), {}
    if policy.context is not None and batch.teacher_contexts is not None:
        apart = huber(policy.context - batch.teacher_contexts, experiment.recipe.huber_delta)
        distillation = _mean(reduced(apart, experiment.recipe.huber_reduction), decisions)
        recovered = recovery(jax.lax.stop_gradient(policy.context), batch.teacher_contexts, decisions)
    gates = jnp.zeros(decisions.shape) if policy.gate is None else jax.lax.stop_gradient(policy.gate)
    gate = _mean(gates, decisions)
    weight = experiment.distillation.weight if method_named(experiment.method).distils else 0.0
    return LossParts(
        total=policy_loss
        + ppo.value_coefficient * value_loss
        - ppo.entropy_coefficient * entropy
        + weight * distillation,
        policy=policy_loss,
        value=value_loss,
        entropy=entropy,
        distillation=distillation,
        gate=gate,
        gate_deviation=jnp.sqrt(_mean((gates - gate) ** 2, decisions)),
        recovery=recovered,
        clipped=_mean(jnp.abs(ratio - 1) > ppo.clip, decisions),
        divergence=_mean(ratio - 1 - ratio_log, decisions),
    )


def clipped_objective(
    ratio: Float[Array, "..."], advantages: Float[Array, "..."], clip: float
) -> Float[Array, "..."]:
    """PPO's pessimistic choice between the ratio and the clipped ratio."""
    return jnp.minimum(ratio * advantages, jnp.clip(ratio, 1 - clip, 1 + clip) * advantages)


def huber(error: Float[Array, "..."], delta: float) -> Float[Array, "..."]:
    """Quadratic near zero, linear beyond delta.

    Not optax's, whose gradient is rounded otherwise: no recorded run would be made again to the bit.
    """
    size = jnp.abs(error)
    return jnp.where(size <= delta, 0.5 * error**2, delta * (size - 0.5 * delta))


def reduced(
    apart: Float[Array, "... context"], reduction: Literal["mean", "root", "sum"]
) -> Float[Array, "..."]:
    """What a whole context costs, from what its numbers do."""
    if reduction == "mean":
        return jnp.mean(apart, axis=-1)
    return jnp.sum(apart, axis=-1) / (apart.shape[-1] ** 0.5 if reduction == "root" else 1)


def _value_loss(
    networks: Networks, batch: Sequences, features: Array, experiment: Experiment
) -> Float[Array, ""]:
    view = TeamView(batch.observations, batch.present, features, batch.global_states)
    values = networks.critic(view)
    loss = (values - batch.value_targets) ** 2
    if experiment.recipe.clip_values:
        clip = ppo_of(experiment).clip
        near = batch.values + jnp.clip(values - batch.values, -clip, clip)
        loss = jnp.maximum(loss, (near - batch.value_targets) ** 2)
    return _mean(loss, batch.decisions if networks.critic.local else batch.played)


def _mean(values: Shaped[Array, "..."], real: Bool[Array, "..."]) -> Float[Array, ""]:
    """The mean over what is real; `where` first, so that NaN in padding stays there."""
    return jnp.sum(jnp.where(real, values, 0)) / jnp.maximum(jnp.sum(real), 1)
