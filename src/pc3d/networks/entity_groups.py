"""Two groups of entities, drawn once for an episode: as if they mattered only within or across them."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Key, PRNGKeyArray


class Groups(eqx.Module):
    """Who is in the first group, by episode: agents by their slots, all else in its own order."""

    agents: Bool[Array, "episode slot"]
    others: Bool[Array, "episode other"]

    @classmethod
    def drawn(cls, keys: Key[Array, " episode"], slots: int, others: int) -> Groups:
        """In each episode with a probability that is drawn first, the same for all."""

        def of_one(key: PRNGKeyArray) -> tuple[Array, Array]:
            share_key, agents_key, others_key = jax.random.split(key, 3)
            share = jax.random.uniform(share_key)
            # JAX numbers the draws: more slots, or more entities, change none.
            return (
                jax.random.uniform(agents_key, (slots,)) < share,
                jax.random.uniform(others_key, (others,)) < share,
            )

        return cls(*jax.vmap(of_one)(keys))

    def alike(
        self, numbers: Int[Array, "episode *rest entity"], own: Int[Array, "episode *rest reader"]
    ) -> Bool[Array, "episode *rest reader entity"]:
        """Whether a reader and an entity of these numbers are in one group."""
        return self._first(own)[..., :, None] == self._first(numbers)[..., None, :]

    def _first(self, numbers: Int[Array, " episode *rest"]) -> Bool[Array, " episode *rest"]:
        def of_one(agents: Array, others: Array, numbers: Array) -> Array:
            agent, other = jnp.maximum(numbers - 1, 0), jnp.maximum(-numbers - 1, 0)
            return jnp.where(numbers > 0, agents[agent], others[other])

        return jax.vmap(of_one)(self.agents, self.others, numbers)
