"""The epochs of an update: gradient steps on minibatches, and the averaged teacher a little after each."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from pc3d.experiment.settings import Experiment
from pc3d.learners.ppo.losses import LossParts, objective
from pc3d.learners.ppo.sequences import SequencePlan, Sequences
from pc3d.learners.ppo.settings import ppo_of
from pc3d.networks.build import Networks
from pc3d.networks.teacher import Teacher, averaged

Unravel = Callable[[Array], Networks]


class Descent(eqx.Module):
    """What a gradient step changes."""

    parameters: Float[Array, " parameter"]
    averaged_teacher: Teacher | None
    adam: optax.ScaleByAdamState


def descend(
    experiment: Experiment,
    start: Descent,
    unravel: Unravel,
    plan: SequencePlan,
    sequences: Sequences,
    rate: Float[Array, ""],
    key: PRNGKeyArray,
) -> tuple[Descent, LossParts, Float[Array, "epoch minibatch"]]:
    """All epochs; with the mean losses of their steps, and the norm of each step's gradient."""

    def step(training: Descent, batch: Sequences) -> tuple[Descent, tuple[LossParts, Array]]:
        return _step(experiment, rate, unravel, training, batch)

    def epoch(training: Descent, number: Array) -> tuple[Descent, tuple[LossParts, Array]]:
        return jax.lax.scan(step, training, plan.shuffle(jax.random.fold_in(key, number), sequences))

    end, (losses, norms) = jax.lax.scan(epoch, start, jnp.arange(ppo_of(experiment).epochs))
    # Not every minibatch has an answer to every question about contexts.
    recovered = jax.tree.map(jnp.nanmean, losses.recovery)
    means = jax.tree.map(jnp.mean, losses)
    return end, eqx.tree_at(lambda parts: parts.recovery, means, recovered), norms


def adam(experiment: Experiment) -> optax.GradientTransformation:
    return optax.scale_by_adam(eps=experiment.recipe.adam_epsilon)


def _step(
    experiment: Experiment, rate: Float[Array, ""], unravel: Unravel, training: Descent, batch: Sequences
) -> tuple[Descent, tuple[LossParts, Array]]:
    """One gradient step on one minibatch."""

    def loss(parameters: Array) -> tuple[Array, LossParts]:
        parts = objective(unravel(parameters), batch, experiment)
        return parts.total, parts

    gradient, parts = jax.grad(loss, has_aux=True)(training.parameters)
    actor_parameters = sum(leaf.size for leaf in jax.tree.leaves(unravel(training.parameters).actor))
    gradient, norm = _shorten(experiment, gradient, actor_parameters)
    step, state = adam(experiment).update(gradient, training.adam)
    parameters = training.parameters - rate * step
    teacher, teacher_rate = unravel(parameters).critic.held_teacher, experiment.distillation.teacher_rate
    return Descent(parameters, averaged(training.averaged_teacher, teacher, teacher_rate), state), (
        parts,
        norm,
    )


def _shorten(
    experiment: Experiment, gradient: Float[Array, " parameter"], actor_parameters: int
) -> tuple[Float[Array, " parameter"], Float[Array, ""]]:
    """Clip the gradient's norm, of all parameters or of actor and critic each; and tell the norm."""
    longest, norm = ppo_of(experiment).max_gradient_norm, jnp.linalg.norm(gradient)

    def shorten(part: Array) -> Array:
        return part * jnp.minimum(1, longest / (jnp.linalg.norm(part) + 1e-6))

    if experiment.recipe.clip_gradients == "together":
        return shorten(gradient), norm
    actor, critic = gradient[:actor_parameters], gradient[actor_parameters:]
    return jnp.concatenate([shorten(actor), shorten(critic)]), norm
