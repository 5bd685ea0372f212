"""The epochs of an update: gradient steps on minibatches, and the averaged teacher a little after each."""

from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from pc3d.experiment.experiment import Experiment
from pc3d.learners.optimiser import adam, shortened
from pc3d.learners.ppo.losses import Counts, LossParts, objective
from pc3d.learners.ppo.packing import Packing, PieceShape, pack, piece_of
from pc3d.learners.ppo.sequences import NOTHING, SequencePlan, Sequences
from pc3d.learners.ppo.settings import ppo_of
from pc3d.networks.build import Networks
from pc3d.networks.seating import NOBODY
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
    """All epochs; with the losses of their steps, and the norm of each step's gradient."""
    there, epochs = jnp.any(sequences.present, axis=1), ppo_of(experiment).epochs
    slots = there.shape[-1]
    shape = PieceShape.make(plan, slots, experiment.curriculum.usual_team(slots))

    def step(training: Descent, numbers: Array) -> tuple[Descent, tuple[LossParts, Array]]:
        """One gradient step on one minibatch."""
        networks = unravel(training.parameters)
        gradient, parts = minibatch_gradient(
            experiment, networks, sequences, pack(shape, there, numbers), shape
        )
        actor_parameters = sum(leaf.size for leaf in jax.tree.leaves(networks.actor))
        return _stepped(
            experiment, rate, unravel, training, ravel_pytree(gradient)[0], actor_parameters, parts
        )

    def epoch(training: Descent, number: Array) -> tuple[Descent, tuple[LossParts, Array]]:
        return jax.lax.scan(step, training, plan.shuffled(jax.random.fold_in(key, number)))

    end, (losses, norms) = jax.lax.scan(epoch, start, jnp.arange(epochs))
    students = jax.tree.map(lambda sums: jnp.sum(sums) / epochs, losses.students)
    means = jax.tree.map(jnp.mean, losses)
    return end, eqx.tree_at(lambda parts: parts.students, means, students), norms


def minibatch_gradient(
    experiment: Experiment, networks: Networks, sequences: Sequences, packing: Packing, shape: PieceShape
) -> tuple[Networks, LossParts]:
    """The gradient of a minibatch's loss, added up over its pieces; and the loss."""
    counts = _counts(sequences, packing)

    def of_piece(rows: int, number: Array) -> tuple[Networks, LossParts]:
        piece = piece_of(sequences, packing, number, rows)

        def loss(networks: Networks) -> tuple[Array, LossParts]:
            parts = objective(networks, piece, experiment, counts)
            return parts.total, parts

        return jax.grad(loss, has_aux=True)(networks)

    def of_filled_rows(number: Array) -> tuple[Networks, LossParts]:
        filled = jnp.sum(packing.rows[number] != NOBODY)
        enough = jnp.searchsorted(jnp.asarray(shape.rows), filled)
        return jax.lax.switch(enough, [partial(of_piece, rows) for rows in shape.rows], number)

    first = jnp.zeros((), int)
    if shape.single:
        return of_filled_rows(first)

    def add(number: Array, so_far: tuple[Networks, LossParts]) -> tuple[Networks, LossParts]:
        return jax.tree.map(jnp.add, so_far, of_filled_rows(number))

    zeros = jax.tree.map(
        lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(of_filled_rows, first)
    )
    return jax.lax.fori_loop(0, packing.count, add, zeros)


def _counts(sequences: Sequences, packing: Packing) -> Counts:
    """Of the whole minibatch; at least 1, as nothing is divided by nothing."""
    held, numbers = packing.teams != NOTHING, packing.teams
    decisions = jnp.sum(sequences.decisions, axis=(1, 2))[numbers]
    team_steps = jnp.sum(sequences.played, axis=1)[numbers]
    return Counts(*(jnp.maximum(jnp.sum(jnp.where(held, part, 0)), 1.0) for part in (decisions, team_steps)))


def _stepped(
    experiment: Experiment,
    rate: Float[Array, ""],
    unravel: Unravel,
    training: Descent,
    gradient: Float[Array, " parameter"],
    actor_parameters: int,
    parts: LossParts,
) -> tuple[Descent, tuple[LossParts, Array]]:
    """Adam's step along a gradient, and the averaged teacher's after it."""
    longest = ppo_of(experiment).max_gradient_norm
    gradient, norm = shortened(experiment.recipe, gradient, longest, actor_parameters)
    step, state = adam(experiment).update(gradient, training.adam)
    parameters = training.parameters - rate * step
    teacher, teacher_rate = unravel(parameters).critic.held_teacher, experiment.distillation.teacher_rate
    average = averaged(training.averaged_teacher, teacher, teacher_rate)
    return Descent(parameters, average, state), (parts, norm)
