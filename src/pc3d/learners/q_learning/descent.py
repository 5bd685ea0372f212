"""The gradient steps of an update: each on sequences of its own, and the slow copy a little after each."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from pc3d.experiment.experiment import Experiment
from pc3d.learners.experience import Counts
from pc3d.learners.optimiser import Left, adam, shortened
from pc3d.learners.pieces import added_up, grouped, pieces_of
from pc3d.learners.q_learning.chance import NOTHING, Chance
from pc3d.learners.q_learning.losses import Given, LossParts, objective
from pc3d.learners.q_learning.settings import q_of
from pc3d.learners.q_learning.soft_policy import Reference
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.build import Networks
from pc3d.play.episode import Episode

Unravel = Callable[[Array], Networks]


class Descent(eqx.Module):
    """What a gradient step changes."""

    parameters: Float[Array, " parameter"]
    slow: Float[Array, " parameter"]
    adam: optax.ScaleByAdamState


def descend(
    experiment: Experiment,
    start: Descent,
    unravel: Unravel,
    scale: ValueScale,
    episodes: Episode,
    rate: Float[Array, ""],
    *,
    left: Left,
    roster_changes: bool,
    chance: Chance = NOTHING,
    reference: Reference | None = None,
) -> tuple[Descent, LossParts, Float[Array, " step"]]:
    """All steps; with the means of their losses, and the norm of each step's gradient."""
    settings = q_of(experiment)

    def step(training: Descent, drawn: tuple[Episode, Chance]) -> tuple[Descent, tuple[LossParts, Array]]:
        networks = unravel(training.parameters)
        given = Given(unravel(training.slow), scale, roster_changes, reference, left)
        gradient, parts = minibatch_gradient(experiment, networks, given, *drawn)
        actor_parameters = sum(leaf.size for leaf in jax.tree.leaves(networks.actor))
        flat, norm = shortened(
            experiment.recipe, ravel_pytree(gradient)[0], settings.max_gradient_norm, actor_parameters
        )
        change, state = adam(experiment).update(flat, training.adam)
        parameters = training.parameters - rate * change
        slow_parameters = training.slow + settings.target_rate * (parameters - training.slow)
        return Descent(parameters, slow_parameters, state), (parts, norm)

    end, (losses, norms) = jax.lax.scan(step, start, grouped((episodes, chance), settings.gradient_steps))
    return end, jax.tree.map(jnp.mean, losses), norms


def minibatch_gradient(
    experiment: Experiment,
    networks: Networks,
    given: Given,
    batch: Episode,
    chance: Chance = NOTHING,
) -> tuple[Networks, LossParts]:
    """Of a minibatch's loss, added up over pieces of it; and the loss."""
    counts = Counts.of(batch)

    def of_piece(piece: tuple[Episode, Chance]) -> tuple[Networks, LossParts]:
        episodes, theirs = piece

        def loss(networks: Networks) -> tuple[Array, LossParts]:
            parts = objective(experiment, networks, given, episodes, counts, theirs)
            return parts.total, parts

        return jax.grad(loss, has_aux=True)(networks)

    return added_up(of_piece, (batch, chance), pieces_of(*batch.present.shape))
