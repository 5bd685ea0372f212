"""Whether an update is still made of numbers: what training looks at before it goes on."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pc3d.learners.experience import seen_in
from pc3d.play.episode import Episode


class Health(eqx.Module):
    """What is made of finite numbers, in the order in which a fault would spread."""

    observations: Bool[Array, ""]
    rewards: Bool[Array, ""]
    values: Bool[Array, ""]
    loss: Bool[Array, ""]
    gradient: Bool[Array, ""]
    optimiser: Bool[Array, ""]
    parameters: Bool[Array, ""]

    @staticmethod
    def of_drawn(
        episodes: Episode, *, target: Array, loss: Array, gradient: Any, optimiser: Any, parameters: Any
    ) -> "Health":
        """Of an update from a replay: single numbers, arrays, or trees of them."""
        numbers = (seen_in(episodes), episodes.rewards, target, loss, gradient, optimiser, parameters)
        return Health(*map(_all_finite_in, numbers))

    def with_student(self, loss: Array, gradient: Array, optimiser: Any) -> "Health":
        """The same with an actor that learns beside: its loss, the norms of its gradients, its optimiser."""
        return replace(
            self,
            loss=self.loss & _all_finite_in(loss),
            gradient=self.gradient & _all_finite_in(gradient),
            optimiser=self.optimiser & _all_finite_in((optimiser.mu, optimiser.nu)),
        )


def _all_finite_in(tree: Any) -> Bool[Array, ""]:
    return jnp.all(jnp.stack([all_finite(leaf) for leaf in jax.tree.leaves(tree)]))


def all_finite(values: Float[Array, "..."]) -> Bool[Array, ""]:
    return jnp.all(jnp.isfinite(values))
