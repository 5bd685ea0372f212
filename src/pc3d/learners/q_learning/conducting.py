"""What was heard in play from groups, as constants, and what messages are held to besides."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pc3d.networks.conducted_actor import ConductedActor
from pc3d.networks.normal import Normal
from pc3d.play.episode import Episode


def heard_in(actor: object, episodes: Episode) -> Float[Array, "episode moment agent number"] | None:
    """At every moment; after the last step that of the last. None of those who hear nothing."""
    if not isinstance(actor, ConductedActor):
        return None
    told = jnp.where(jnp.asarray(episodes.present[:, :-1, :, None]), episodes.kept["told"], 0)
    return jnp.concatenate([told, told[:, -1:]], axis=1)


class Messages(eqx.Module):
    """What messages are held to, decision by decision; zero where the next election was not lived to see."""

    foresight: Float[Array, "episode time agent"]
    contrast: Float[Array, "episode time agent"]


def held_to(
    actor: ConductedActor,
    episodes: Episode,
    seen: Float[Array, "episode moment agent observation"],
    features: Float[Array, "episode moment agent h"],
    noise: Float[Array, "episode election agent number"],
) -> Messages:
    """How far each lies from what its sender comes to know, and how hard it is to tell from others'."""
    every, moments = actor.conducting.every, seen.shape[1]
    elections = max(0, -(-(moments - every) // every))
    before, after = (slice(first, first + elections * every, every) for first in (0, every))
    message = actor.message(seen[:, before])
    foretold = actor.foretold(seen[:, after], features[:, after])
    present = jnp.asarray(episodes.present)
    played = jnp.asarray(episodes.played)[:, every - 1 :: every][:, :elections, None]
    lived = present[:, before] & present[:, after] & played
    drawn = message.drawn(noise[:, :elections])

    def held(values: Array) -> Array:
        again = jnp.repeat(jnp.where(lived, values, 0), every, axis=1)[:, : moments - 1]
        return jnp.pad(again, ((0, 0), (0, moments - 1 - again.shape[1]), (0, 0)))

    return Messages(held(message.divergence_from(foretold)), held(confusion(foretold, drawn, lived)))


def confusion(
    foretold: Normal, said: Float[Array, "*rows agent number"], among: Bool[Array, "*rows agent"]
) -> Float[Array, "*rows agent"]:
    """InfoNCE: −log of how much likelier a message is by its sender's knowledge than by anybody's."""
    each = jax.tree.map(lambda part: part[..., None, :, :], foretold)
    scores = each.log_density(said[..., :, None, :])  # of a message by what each of the team knows
    those = jnp.broadcast_to(among[..., None, :], scores.shape)
    together = jax.nn.logsumexp(jnp.where(those, scores, -1e30), axis=-1)
    count = jnp.maximum(jnp.sum(among, axis=-1, keepdims=True), 1)
    return together - jnp.log(count) - jnp.diagonal(scores, axis1=-2, axis2=-1)
