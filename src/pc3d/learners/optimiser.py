"""What gradient steps of all algorithms have in common: Adam, its rate over a run, and a longest gradient."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.recipe import Recipe

Left = float | Float[Array, ""]  # of a run, as a share


def adam(experiment: Experiment) -> optax.GradientTransformation:
    return optax.scale_by_adam(eps=experiment.recipe.adam_epsilon)


def fresh_adam(experiment: Experiment, networks: Any) -> optax.ScaleByAdamState:
    """Before the first step, over all parameters as one vector."""
    return adam(experiment).init(jnp.zeros(sum(leaf.size for leaf in jax.tree.leaves(networks))))


def learning_rate(experiment: Experiment, start: float, update: Int[Array, ""]) -> Float[Array, ""]:
    """Of this update: constant, or falling to zero over the run."""
    rate = jnp.asarray(start)
    if experiment.recipe.learning_rate_schedule == "linear":
        rate = rate * (1 - update / experiment.updates)
    return rate


def left_of(experiment: Experiment, update: Int[Array, ""]) -> Float[Array, ""]:
    """How much of the run is still to come at this update: 1 at the first one."""
    return 1 - update / experiment.updates


def shortened(
    recipe: Recipe, gradient: Float[Array, " parameter"], longest: float, actor_parameters: int
) -> tuple[Float[Array, " parameter"], Float[Array, ""]]:
    """Clip the gradient's norm, of all parameters or of actor and critic each; and tell the norm."""
    norm = jnp.linalg.norm(gradient)
    if recipe.clip_gradients == "together":
        return shorten(gradient, longest), norm
    actor, critic = gradient[:actor_parameters], gradient[actor_parameters:]
    return jnp.concatenate([shorten(actor, longest), shorten(critic, longest)]), norm


def shorten(gradient: Float[Array, " parameter"], longest: float) -> Float[Array, " parameter"]:
    """Clip the norm of one gradient."""
    return gradient * jnp.minimum(1, longest / (jnp.linalg.norm(gradient) + 1e-6))
