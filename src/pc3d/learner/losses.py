"""The objective (the paper's Eq. 5): PPO + λ_V value − λ_H entropy + λ_distill distillation."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pc3d.methods import Networks, method_named
from pc3d.networks.critics import TeamView
from pc3d.rollout import log_probability_of
from pc3d.settings import Experiment


class Sequences(eqx.Module):
    """Stretches of episodes, ready for gradients: at most `backpropagation_steps` long."""

    first_memory: Float[Array, "sequence agent h"]
    observations: Float[Array, "sequence time agent observation"]
    global_states: Float[Array, "sequence time state"] | None
    active: Bool[Array, "sequence agent"]
    played: Bool[Array, "sequence time"]  # false after an episode's end
    actions: Int[Array, "sequence time agent"]
    log_probabilities: Float[Array, "sequence time agent"]
    advantages: Float[Array, "sequence time agent"]
    value_targets: Float[Array, "sequence time *agent"]
    values: Float[Array, "sequence time *agent"]  # before the update
    teacher_contexts: Float[Array, "sequence time agent context"] | None

    @property
    def decisions(self) -> Bool[Array, "sequence time agent"]:
        """The valid agent-time pairs: somebody was there and had to act."""
        return self.active[:, None, :] & self.played[:, :, None]


class LossParts(eqx.Module):
    """The terms of the objective and what is worth watching beside them."""

    total: Float[Array, ""]
    policy: Float[Array, ""]
    value: Float[Array, ""]
    entropy: Float[Array, ""]
    distillation: Float[Array, ""]
    gate: Float[Array, ""]
    clipped: Float[Array, ""]
    divergence: Float[Array, ""]


def objective(networks: Networks, batch: Sequences, experiment: Experiment) -> LossParts:
    """The loss of one minibatch. Means are over valid agent-time pairs; a central value's over steps."""
    ppo, decisions = experiment.ppo, batch.decisions
    observations = jnp.where(batch.active[:, None, :, None], batch.observations, 0)
    features = networks.actor.remember(batch.first_memory, observations)
    policy = networks.actor.conditioning(features)
    log_probabilities = jax.nn.log_softmax(policy.logits)
    ratio_log = log_probability_of(log_probabilities, batch.actions) - batch.log_probabilities
    ratio = jnp.exp(jnp.where(decisions, ratio_log, 0))
    policy_loss = -_mean(clipped_objective(ratio, batch.advantages, ppo.clip), decisions)
    entropy = _mean(-jnp.sum(jnp.exp(log_probabilities) * log_probabilities, axis=-1), decisions)
    value_loss = _value_loss(networks, batch, features, experiment)
    distillation = jnp.zeros(())
    if policy.context is not None and batch.teacher_contexts is not None:
        apart = huber(policy.context - batch.teacher_contexts, experiment.recipe.huber_delta)
        reduce = jnp.mean if experiment.recipe.huber_reduction == "mean" else jnp.sum
        distillation = _mean(reduce(apart, axis=-1), decisions)
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
        gate=jnp.zeros(()) if policy.gate is None else _mean(policy.gate, decisions),
        clipped=_mean(jnp.abs(ratio - 1) > ppo.clip, decisions),
        divergence=_mean(ratio - 1 - ratio_log, decisions),
    )


def clipped_objective(
    ratio: Float[Array, "..."], advantages: Float[Array, "..."], clip: float
) -> Float[Array, "..."]:
    """PPO's pessimistic choice between the ratio and the clipped ratio."""
    return jnp.minimum(ratio * advantages, jnp.clip(ratio, 1 - clip, 1 + clip) * advantages)


def huber(error: Float[Array, "..."], delta: float) -> Float[Array, "..."]:
    """Quadratic near zero, linear beyond delta."""
    size = jnp.abs(error)
    return jnp.where(size <= delta, 0.5 * error**2, delta * (size - 0.5 * delta))


def _value_loss(
    networks: Networks, batch: Sequences, features: Array, experiment: Experiment
) -> Float[Array, ""]:
    # Everyone stays visible after an episode's end: a team of nobody has no mean and no attention.
    active = jnp.broadcast_to(batch.active[:, None, :], batch.actions.shape)
    view = TeamView(batch.observations, active, features, batch.global_states)
    values = networks.critic(view)
    loss = (values - batch.value_targets) ** 2
    if experiment.recipe.clip_values:
        near = batch.values + jnp.clip(values - batch.values, -experiment.ppo.clip, experiment.ppo.clip)
        loss = jnp.maximum(loss, (near - batch.value_targets) ** 2)
    return _mean(loss, batch.decisions if networks.critic.local else batch.played)


def _mean(values: Float[Array, "..."], real: Bool[Array, "..."]) -> Float[Array, ""]:
    """The mean over what is real; `where` first, so that NaN in padding stays there."""
    return jnp.sum(jnp.where(real, values, 0)) / jnp.maximum(jnp.sum(real), 1)
