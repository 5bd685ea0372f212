"""What was heard in play from groups, as constants, and what messages are held to besides."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pc3d.learners.experience import decisions_of
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
    """What messages are held to, decision by decision; zero for who was not there to the end of their use."""

    foresight: Float[Array, "episode time agent"]
    contrast: Float[Array, "episode time agent"]


def held_to(
    actor: ConductedActor,
    episodes: Episode,
    seen: Float[Array, "episode moment agent observation"],
    features: Float[Array, "episode moment agent h"],
    noise: Float[Array, "episode moment agent number"],
) -> Messages:
    """How far each lies from what its sender comes to know, and how hard it is to tell from others'.

    Of what everybody would say at each moment, whether or not there is an election: as in the original.
    """
    steps = seen.shape[1] - 1
    wait = min(actor.conducting.every - 1, steps)  # a message is used until the step before the next election
    lived = _lived(episodes, wait)
    message = actor.message(seen[:, : steps - wait])
    # What is remembered is for acting; only what attention finds learns to foretell.
    remembered = jax.lax.stop_gradient(features[:, wait:-1])
    foretold = actor.foretold(seen[:, wait:-1], remembered)
    drawn = message.drawn(noise[:, : steps - wait])

    def held(values: Array) -> Array:
        return jnp.pad(jnp.where(lived, values, 0), ((0, 0), (0, wait), (0, 0)))

    return Messages(held(message.divergence_from(foretold)), held(confusion(foretold, drawn, lived)))


def _lived(episodes: Episode, wait: int) -> Bool[Array, "episode time agent"]:
    """Who had to decide at a step, and at every one up to so many steps later, without leaving in between."""
    decided = decisions_of(episodes)
    missed, starts = jnp.cumsum(~decided, axis=1), decided.shape[1] - wait
    return decided[:, :starts] & (missed[:, wait:] == missed[:, :starts])


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
