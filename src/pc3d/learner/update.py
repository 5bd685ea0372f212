"""One update: value the episodes, cut them into sequences, and take the epochs' gradient steps."""

from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.learner.advantages import ValueScale, generalised_advantages
from pc3d.learner.losses import LossParts, Sequences, objective
from pc3d.learner.sequences import SequencePlan
from pc3d.methods import Networks, build, method_named
from pc3d.networks.actor import Actor
from pc3d.networks.critics import TeamView
from pc3d.networks.teacher import Teacher
from pc3d.randomness import Purpose, stream
from pc3d.rollout import Episode
from pc3d.settings import Experiment
from pc3d.tasks.task import Game


class PolicyNetworks(eqx.Module):
    """What a finished run leaves: the actor, and the averaged teacher to measure its contexts against."""

    actor: Actor
    teacher: Teacher | None


class Learner(eqx.Module):
    """The whole state of learning: what a checkpoint holds."""

    networks: Networks
    averaged_teacher: Teacher | None
    adam: optax.ScaleByAdamState  # over all parameters as one vector
    value_scale: ValueScale
    update: Int[Array, ""]

    @property
    def policy(self) -> PolicyNetworks:
        return PolicyNetworks(self.networks.actor, self.averaged_teacher)


class Health(eqx.Module):
    """What is made of finite numbers, in the order in which a fault would spread."""

    observations: Bool[Array, ""]
    rewards: Bool[Array, ""]
    values: Bool[Array, ""]
    loss: Bool[Array, ""]
    gradient: Bool[Array, ""]
    optimiser: Bool[Array, ""]
    parameters: Bool[Array, ""]


class UpdateReport(eqx.Module):
    """What one update looked like, averaged over its gradient steps."""

    losses: LossParts
    gradient_norm: Float[Array, ""]
    learning_rate: Float[Array, ""]
    finite: Health


def fresh_learner(experiment: Experiment, task: Game) -> Learner:
    """The learner before its first update: a function of the experiment's seed."""
    networks = build(stream(experiment.seed, Purpose.INITIALISE), experiment, task)
    return Learner(
        networks=networks,
        averaged_teacher=networks.critic.held_teacher,
        adam=_adam(experiment).init(ravel_pytree(networks)[0]),
        value_scale=ValueScale.fresh(),
        update=jnp.zeros((), jnp.int32),
    )


def learn(
    experiment: Experiment, learner: Learner, episodes: Episode, key: PRNGKeyArray
) -> tuple[Learner, UpdateReport]:
    """Improve the networks on the episodes just played."""
    count, horizon = episodes.rewards.shape
    plan = SequencePlan.make(experiment, count, horizon)
    scale, sequences = prepare(experiment, learner, episodes, plan)
    rate = _learning_rate(experiment, learner.update)
    # One vector of parameters: a few large kernels instead of many small ones, and half the compile time.
    parameters, unravel = ravel_pytree(learner.networks)
    start = _Descent(parameters, learner.averaged_teacher, learner.adam)

    def epoch(training: _Descent, number: Array) -> tuple[_Descent, tuple[LossParts, Array]]:
        minibatches = plan.shuffle(jax.random.fold_in(key, number), sequences)
        return jax.lax.scan(partial(_descend, experiment, rate, unravel), training, minibatches)

    end, (losses, norms) = jax.lax.scan(epoch, start, jnp.arange(experiment.ppo.epochs))
    losses = jax.tree.map(jnp.mean, losses)
    finite = Health(
        observations=_all_finite(jnp.where(episodes.active[:, None, :, None], episodes.observations, 0)),
        rewards=_all_finite(episodes.rewards),
        values=_all_finite(sequences.values),
        loss=jnp.isfinite(losses.total),
        gradient=jnp.all(jnp.isfinite(norms)),
        optimiser=_all_finite(end.adam.mu) & _all_finite(end.adam.nu),
        parameters=_all_finite(end.parameters),
    )
    learner = Learner(unravel(end.parameters), end.averaged_teacher, end.adam, scale, learner.update + 1)
    return learner, UpdateReport(losses, jnp.mean(norms), rate, finite)


def prepare(
    experiment: Experiment, learner: Learner, episodes: Episode, plan: SequencePlan
) -> tuple[ValueScale, Sequences]:
    """Everything that stays fixed during the epochs: advantages, targets, teacher contexts."""
    networks, recipe, method = learner.networks, experiment.recipe, method_named(experiment.method)
    seen = jnp.where(episodes.active[:, None, :, None], episodes.observations, 0)
    features = None
    if networks.critic.local or plan.pieces > 1:
        features = networks.actor.remember(networks.actor.first_memory(*episodes.active.shape), seen)
    active = jnp.broadcast_to(episodes.active[:, None, :], seen.shape[:-1])
    values = networks.critic(TeamView(seen, active, features, episodes.global_states))
    real_values = learner.value_scale.stretch(values) if recipe.normalise_values else values
    advantages = _advantages(experiment, episodes, real_values, local=networks.critic.local)
    targets = advantages + real_values[:, :-1]
    decisions = active[:, :-1] & episodes.played[:, :, None]
    valued = decisions if networks.critic.local else episodes.played
    scale = learner.value_scale.follow(targets, valued, recipe.value_statistics_rate)
    if recipe.normalise_values:
        targets = scale.shrink(targets)
    if not networks.critic.local:
        advantages = jnp.broadcast_to(advantages[:, :, None], decisions.shape)
    if recipe.normalise_advantages:
        running = recipe.advantage_deviation == "running"
        deviation = scale.deviation if running else jnp.std(advantages, where=decisions)
        advantages = (advantages - jnp.mean(advantages, where=decisions)) / (deviation + 1e-8)
    contexts = None
    if method.has_context and learner.averaged_teacher is not None:
        contexts = jax.lax.stop_gradient(learner.averaged_teacher.contexts(seen[:, :-1], active[:, :-1]))
    nothing = networks.actor.first_memory(episodes.active.shape[-1])
    states = episodes.global_states
    return scale, Sequences(
        first_memory=plan.first_memories(features, nothing),
        observations=plan.cut(seen[:, :-1]),
        global_states=None if states is None else plan.cut(states[:, :-1]),
        active=jnp.repeat(episodes.active, plan.pieces, axis=0),
        played=plan.cut(episodes.played),
        actions=plan.cut(episodes.actions),
        log_probabilities=plan.cut(episodes.log_probabilities),
        advantages=plan.cut(advantages),
        value_targets=plan.cut(targets),
        values=plan.cut(values[:, :-1]),
        teacher_contexts=None if contexts is None else plan.cut(contexts),
    )


class _Descent(eqx.Module):
    """What a gradient step changes."""

    parameters: Float[Array, " parameter"]
    averaged_teacher: Teacher | None
    adam: optax.ScaleByAdamState


def _descend(
    experiment: Experiment,
    rate: Float[Array, ""],
    unravel: Callable[[Array], Networks],
    training: _Descent,
    batch: Sequences,
) -> tuple[_Descent, tuple[LossParts, Array]]:
    """One gradient step on one minibatch, and the averaged teacher a little after it."""

    def loss(parameters: Array) -> tuple[Array, LossParts]:
        parts = objective(unravel(parameters), batch, experiment)
        return parts.total, parts

    gradient, parts = jax.grad(loss, has_aux=True)(training.parameters)
    actor_parameters = sum(leaf.size for leaf in jax.tree.leaves(unravel(training.parameters).actor))
    gradient, norm = _shorten(experiment, gradient, actor_parameters)
    step, adam = _adam(experiment).update(gradient, training.adam)
    parameters = training.parameters - rate * step
    teacher = _follow(training.averaged_teacher, unravel(parameters), experiment.distillation.teacher_rate)
    return _Descent(parameters, teacher, adam), (parts, norm)


def _follow(average: Teacher | None, networks: Networks, rate: float) -> Teacher | None:
    """Move the averaged teacher (the paper's EMA with rate τ) towards the learning one."""
    return jax.tree.map(lambda old, new: old + rate * (new - old), average, networks.critic.held_teacher)


def _advantages(experiment: Experiment, episodes: Episode, values: Array, *, local: bool) -> Array:
    """Advantages of the shared team reward, per step, or per step and agent for local values."""
    rewards = episodes.rewards
    if experiment.recipe.reward_per_agent:
        rewards = rewards / episodes.team_size[:, None]

    def of_one(values: Array, rewards: Array, played: Array, terminated: Array) -> Array:
        return generalised_advantages(
            rewards,
            values,
            played,
            terminated,
            experiment.ppo.discount,
            experiment.ppo.gae_lambda,
            horizon_bootstraps=experiment.recipe.horizon_bootstraps,
        )

    per_agent = jax.vmap(of_one, in_axes=(1, None, None, None), out_axes=1) if local else of_one
    return jax.vmap(per_agent)(values, rewards, episodes.played, episodes.terminated)


def _shorten(
    experiment: Experiment, gradient: Float[Array, " parameter"], actor_parameters: int
) -> tuple[Float[Array, " parameter"], Float[Array, ""]]:
    """Clip the gradient's norm, of all parameters or of actor and critic each; and tell the norm."""
    longest, norm = experiment.ppo.max_gradient_norm, jnp.linalg.norm(gradient)

    def shorten(part: Array) -> Array:
        return part * jnp.minimum(1, longest / (jnp.linalg.norm(part) + 1e-6))

    if experiment.recipe.clip_gradients == "together":
        return shorten(gradient), norm
    actor, critic = gradient[:actor_parameters], gradient[actor_parameters:]
    return jnp.concatenate([shorten(actor), shorten(critic)]), norm


def _adam(experiment: Experiment) -> optax.GradientTransformation:
    return optax.scale_by_adam(eps=experiment.recipe.adam_epsilon)


def _learning_rate(experiment: Experiment, update: Int[Array, ""]) -> Float[Array, ""]:
    rate = jnp.asarray(experiment.ppo.learning_rate)
    if experiment.recipe.learning_rate_schedule == "linear":
        rate = rate * (1 - update / experiment.updates)
    return rate


def _all_finite(values: Float[Array, "..."]) -> Bool[Array, ""]:
    return jnp.all(jnp.isfinite(values))
