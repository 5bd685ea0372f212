"""Students: actors that learn to say what somebody says who sees more, from their own history alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from pc3d.experiment.experiment import Experiment
from pc3d.learners.optimiser import adam, fresh_adam, shorten
from pc3d.learners.pieces import added_up, pieces_of
from pc3d.networks.actor import Actor
from pc3d.networks.build import build_student
from pc3d.networks.context_health import Measures
from pc3d.play.episode import Episode
from pc3d.play.randomness import Purpose, stream
from pc3d.tasks.task import Game

NOTHING = -1  # in the place of an episode's number


class Student(eqx.Module):
    """An actor whose head says what is to be learned, and its optimiser."""

    actor: Actor
    adam: optax.ScaleByAdamState  # over all parameters as one vector

    @classmethod
    def fresh(cls, experiment: Experiment, task: Game) -> "Student":
        return cls.of(
            experiment, build_student(stream(experiment.seed, Purpose.INITIALISE), experiment, task)
        )

    @classmethod
    def of(cls, experiment: Experiment, actor: Actor) -> "Student":
        """An actor that has not learned yet."""
        return cls(actor, fresh_adam(experiment, actor))


class Examples(eqx.Module):
    """What agents saw in some episodes, and what they should say of it."""

    observations: Float[Array, "episode time agent observation"]  # zero where nobody is
    fresh: Bool[Array, "episode time agent"] | None
    """Who has just joined and remembers nothing; None where rosters stay as they are."""
    decisions: Bool[Array, "episode time agent"]
    said: Float[Array, "episode time agent number"]


Ask = Callable[[Episode], Examples]  # the teacher, who sees more


class Sums(eqx.Module):
    """Over all that decided: what some episodes add to a minibatch."""

    error: Float[Array, ""]  # squared, the mean over what each said
    said: Float[Array, " number"]
    square: Float[Array, " number"]
    count: Float[Array, ""]

    @property
    def variance(self) -> Float[Array, ""]:
        """Of what should be said: the mean over numbers."""
        count = jnp.maximum(self.count, 1.0)
        return jnp.mean(self.square / count - (self.said / count) ** 2)


class Studied(eqx.Module):
    """What the steps of an update came to."""

    student: Student
    loss: Float[Array, ""]
    """The mean over steps of the mean over who decided."""
    recovered: Float[Array, ""]
    """1 − loss / variance: how much of what should be said own history tells; 0 is what its mean would."""
    norms: Float[Array, " step"]  # of gradients


def study(
    experiment: Experiment,
    student: Student,
    ask: Ask,
    episodes: Episode,
    numbers: Int[Array, "step episode"],
    rate: Float[Array, ""],
    longest: float,
) -> Studied:
    """A gradient step, no longer than so much, on each group of these episodes.

    NOTHING fills up what a group lacks.
    """
    episodes = jax.tree.map(jnp.asarray, episodes)

    def gradient_of(actor: Actor, numbers: Array) -> tuple[Actor, Sums]:
        batch = jax.tree.map(lambda values: values[numbers], episodes)
        batch = replace(batch, played=batch.played & (numbers != NOTHING)[:, None])
        return minibatch_gradient(actor, ask, batch)

    taught, sums, norms = descended(experiment, student, gradient_of, numbers, rate, longest)
    losses, variances = jax.vmap(lambda one: (one.error / jnp.maximum(one.count, 1), one.variance))(sums)
    loss = jnp.mean(losses)
    recovered = 1 - loss / jnp.maximum(jnp.mean(variances), 1e-12)
    return Studied(taught, loss, recovered, norms)


def descended(
    experiment: Experiment,
    student: Student,
    gradient_of: Callable[[Actor, Any], tuple[Actor, Any]],
    steps: Any,
    rate: Float[Array, ""],
    longest: float,
) -> tuple[Student, Any, Float[Array, " step"]]:
    """After a gradient step, no longer than so much, for each of these; with what each told, and its norm."""
    parameters, unravel = ravel_pytree(student.actor)

    def step(training: Training, given: Any) -> tuple[Training, tuple[Any, Array]]:
        gradient, told = gradient_of(unravel(training.parameters), given)
        flat = ravel_pytree(gradient)[0]
        change, state = adam(experiment).update(shorten(flat, longest), training.adam)
        return Training(training.parameters - rate * change, state), (told, jnp.linalg.norm(flat))

    end, (told, norms) = jax.lax.scan(step, Training(parameters, student.adam), steps)
    return Student(unravel(end.parameters), end.adam), told, norms


class Training(eqx.Module):
    """What a gradient step changes."""

    parameters: Float[Array, " parameter"]
    adam: optax.ScaleByAdamState


def minibatch_gradient(actor: Actor, ask: Ask, batch: Episode) -> tuple[Actor, Sums]:
    """Of the mean squared error, over all that decided and all that each should have said.

    A mean over agents, not a sum: or large teams would weigh more than small ones.
    """

    def of_piece(piece: Episode) -> tuple[Actor, Sums]:
        examples = jax.lax.stop_gradient(ask(piece))

        def loss(actor: Actor) -> tuple[Array, Sums]:
            sums = sums_of(actor, examples)
            return sums.error, sums

        return jax.grad(loss, has_aux=True)(actor)

    gradient, sums = added_up(of_piece, batch, pieces_of(*batch.present.shape))
    return jax.tree.map(lambda part: part / jnp.maximum(sums.count, 1.0), gradient), sums


def sums_of(actor: Actor, examples: Examples) -> Sums:
    """Whose mean is the loss."""
    said = actor.says(actor.over_episodes(examples.observations, examples.fresh)).logits
    # `where` before the square, or what is no number in padding would reach the gradient.
    real, axes = examples.decisions[..., None], (0, 1, 2)
    apart, told = jnp.where(real, said - examples.said, 0), jnp.where(real, examples.said, 0)
    return Sums(
        error=jnp.sum(jnp.mean(apart**2, axis=-1)),
        said=jnp.sum(told, axis=axes),
        square=jnp.sum(told**2, axis=axes),
        count=jnp.sum(examples.decisions).astype(jnp.float32),
    )


def returns_of_players(
    task: Game,
    total_reward: Float[Array, " episode"],
    team_size: Int[Array, " episode"],
    student_played: Bool[Array, ""],
) -> Measures:
    """The mean return of the episodes, by who played them; NaN for whoever did not. No team, no episode."""
    returns = jax.vmap(task.reported_return)(total_reward, jnp.maximum(team_size, 1))
    mean = jnp.mean(returns, where=team_size > 0)
    return {
        "return_of_teacher": jnp.where(student_played, jnp.nan, mean),
        "return_of_student": jnp.where(student_played, mean, jnp.nan),
    }
