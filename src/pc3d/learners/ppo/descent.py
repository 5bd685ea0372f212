"""The epochs of an update: gradient steps on minibatches, and the averaged teacher a little after each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.experiment.experiment import Experiment
from pc3d.learners.optimiser import Left, adam, shortened
from pc3d.learners.ppo.losses import Counts, LossParts, objective
from pc3d.learners.ppo.packing import Packing, PieceShape, pack, piece_of
from pc3d.learners.ppo.sequences import NOTHING, SequencePlan, Sequences
from pc3d.learners.ppo.settings import ppo_of
from pc3d.networks.build import Networks
from pc3d.networks.context_health import Measures
from pc3d.networks.seating import NOBODY
from pc3d.networks.teacher import Teacher, averaged

Unravel = Callable[[Array], Networks]


class Descent(eqx.Module):
    """What a gradient step changes."""

    parameters: Float[Array, " parameter"]
    averaged_teacher: Teacher | None
    adam: optax.ScaleByAdamState


class Descended(eqx.Module):
    """What the epochs of an update came to."""

    end: Descent
    losses: LossParts
    """Means over steps; of students, sums over an epoch."""
    norms: Float[Array, "*turn epoch minibatch"]
    """Of each step's gradient."""
    measures: Measures = eqx.field(default_factory=dict)
    """What else is worth writing down."""


@dataclass(frozen=True)
class Course:
    """What every step of an update goes by."""

    experiment: Experiment
    unravel: Unravel
    plan: SequencePlan
    sequences: Sequences
    rate: Float[Array, ""]
    key: PRNGKeyArray
    left: Left = 1.0
    """Of the run."""


def descend(course: Course, start: Descent) -> Descended:
    """All epochs of an update, for everybody at once."""
    return over_epochs(course, start, jnp.arange(ppo_of(course.experiment).epochs))


def over_epochs(
    course: Course,
    start: Descent,
    numbers: Int[Array, " epoch"],
    moving: Bool[Array, " parameter"] | None = None,
) -> Descended:
    """The epochs of these numbers, by which they are shuffled; where only some parameters move, of those."""
    experiment, plan, sequences = course.experiment, course.plan, course.sequences
    there = jnp.any(sequences.present, axis=1)
    slots = there.shape[-1]
    shape = PieceShape.make(plan, slots, experiment.curriculum.usual_team(slots))

    def step(training: Descent, numbers: Array) -> tuple[Descent, tuple[LossParts, Array]]:
        """One gradient step on one minibatch."""
        networks = course.unravel(training.parameters)
        gradient, parts = minibatch_gradient(
            experiment, networks, sequences, pack(shape, there, numbers), shape, course.left
        )
        actor_parameters = sum(leaf.size for leaf in jax.tree.leaves(networks.actor))
        flat = ravel_pytree(gradient)[0]
        stepped, norm = _stepped(course, training, flat, actor_parameters, moving)
        return stepped, (parts, norm)

    def epoch(training: Descent, number: Array) -> tuple[Descent, tuple[LossParts, Array]]:
        return jax.lax.scan(step, training, plan.shuffled(jax.random.fold_in(course.key, number)))

    end, (losses, norms) = jax.lax.scan(epoch, start, numbers)
    students = jax.tree.map(lambda sums: jnp.sum(sums) / len(numbers), losses.students)
    means = jax.tree.map(jnp.mean, losses)
    return Descended(end, eqx.tree_at(lambda parts: parts.students, means, students), norms)


def minibatch_gradient(
    experiment: Experiment,
    networks: Networks,
    sequences: Sequences,
    packing: Packing,
    shape: PieceShape,
    left: Left = 1.0,
) -> tuple[Networks, LossParts]:
    """The gradient of a minibatch's loss, added up over its pieces; and the loss."""
    counts = _counts(sequences, packing, left)

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


def _counts(sequences: Sequences, packing: Packing, left: Left) -> Counts:
    """Of the whole minibatch; at least 1, as nothing is divided by nothing."""
    held, numbers = packing.teams != NOTHING, packing.teams
    decisions = jnp.sum(sequences.decisions, axis=(1, 2))[numbers]
    team_steps = jnp.sum(sequences.played, axis=1)[numbers]
    counted = Counts(
        *(jnp.maximum(jnp.sum(jnp.where(held, part, 0)), 1.0) for part in (decisions, team_steps))
    )
    return counted if isinstance(left, float) else replace(counted, left=left)


def _stepped(
    course: Course,
    training: Descent,
    gradient: Float[Array, " parameter"],
    actor_parameters: int,
    moving: Bool[Array, " parameter"] | None,
) -> tuple[Descent, Float[Array, ""]]:
    """Adam's step along a gradient, and the averaged teacher's after it; and how long the gradient was."""
    experiment = course.experiment
    longest = ppo_of(experiment).max_gradient_norm
    gradient, norm = shortened(experiment.recipe, gradient, longest, actor_parameters)
    step, state = adam(experiment).update(gradient, training.adam)
    parameters = training.parameters - course.rate * step
    if moving is not None:  # or the rest would follow its momentum
        before = (training.parameters, training.adam.mu, training.adam.nu)
        after = (parameters, state.mu, state.nu)
        parameters, mu, nu = (jnp.where(moving, new, old) for new, old in zip(after, before, strict=True))
        state = state._replace(mu=mu, nu=nu)
    teacher = course.unravel(parameters).critic.held_teacher
    average = averaged(training.averaged_teacher, teacher, experiment.distillation.teacher_rate)
    return Descent(parameters, average, state), norm
