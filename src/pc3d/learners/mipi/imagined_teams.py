"""Imaginary teams: what agents would see if some of the teammates in their views were not there."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, PRNGKeyArray

from pc3d.play.episode import Episode

IMAGINED_DRAWS = 0x317  # folded into the key of an update


class Imagined(eqx.Module):
    """Episodes, and which places for teammates each agent's views keep in all of them."""

    episodes: Episode
    kept: Bool[Array, "episode agent place"]


def imagined(key: PRNGKeyArray, episodes: Episode, places: int, share: float) -> Imagined:
    """In such a share of the episodes; in the others everybody is seen who was there.

    Each place is kept with a chance that is itself drawn for every agent, so that each number of teammates
    is equally likely. Drawn slot by slot, so that wider padding changes none.
    """
    chance_key, place_key, share_key = jax.random.split(jax.random.fold_in(key, IMAGINED_DRAWS), 3)
    count, _, slots = episodes.present.shape
    chances = jax.random.uniform(chance_key, (slots, count, 1))
    kept = jax.random.uniform(place_key, (slots, count, places)) < chances
    as_it_was = jax.random.uniform(share_key, (count,)) >= share
    return Imagined(episodes, jnp.moveaxis(kept, 0, 1) | as_it_was[:, None, None])
