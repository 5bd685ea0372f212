"""The running scale of value targets, by which every team size's are of one size."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


class ValueScale(eqx.Module):
    """A running mean and deviation of value targets: returns differ tenfold between team sizes."""

    weight: Float[Array, ""]
    mean: Float[Array, ""]
    square: Float[Array, ""]

    @staticmethod
    def fresh() -> "ValueScale":
        return ValueScale(jnp.zeros(()), jnp.zeros(()), jnp.zeros(()))

    def follow(self, targets: Float[Array, "..."], real: Bool[Array, "..."], rate: float) -> "ValueScale":
        """Move towards the targets of one update."""
        return self.towards(jnp.mean(targets, where=real), jnp.mean(targets**2, where=real), rate)

    def towards(self, mean: Float[Array, ""], square: Float[Array, ""], rate: float) -> "ValueScale":
        """The same by what is known of the targets."""
        return ValueScale(
            self.weight + rate * (1 - self.weight),
            self.mean + rate * (mean - self.mean),
            self.square + rate * (square - self.square),
        )

    @property
    def deviation(self) -> Float[Array, ""]:
        """Of the targets that were followed; one before the first update."""
        return self._moments()[1]

    def shrink(self, values: Float[Array, "..."]) -> Float[Array, "..."]:
        """From the task's scale to the critic's."""
        center, deviation = self._moments()
        return (values - center) / deviation

    def stretch(self, values: Float[Array, "..."]) -> Float[Array, "..."]:
        """From the critic's scale to the task's."""
        center, deviation = self._moments()
        return values * deviation + center

    def _moments(self) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Before the first update the scale is one: nothing is known yet."""
        known = self.weight > 0
        weight = jnp.where(known, self.weight, 1)
        center = self.mean / weight
        variance = self.square / weight - center**2
        return center, jnp.where(known, jnp.sqrt(jnp.maximum(variance, 1e-8)), 1)
