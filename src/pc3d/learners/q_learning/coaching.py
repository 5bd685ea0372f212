"""What a coach tells in some episodes, and what it is held to besides the team's value."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pc3d.learners.q_learning.chance import Chance
from pc3d.networks.actor import Actor
from pc3d.networks.build import Networks
from pc3d.networks.coach import CoachMixer, surprise
from pc3d.networks.coached_actor import CoachedActor
from pc3d.networks.conditioning import PolicyOutput
from pc3d.networks.listening_actor import ListeningActor
from pc3d.networks.normal import Normal
from pc3d.play.episode import Episode
from pc3d.play.presence import joined
from pc3d.tasks.arrays import AnyArray


class Told(eqx.Module):
    """What everybody has been told last, at every moment: from the first on, at every so many steps."""

    message: Float[Array, "episode moment agent number"]  # zero for who was told nothing
    source: Normal
    """What that was drawn from."""
    moved: Float[Array, "episode moment agent"]
    """How far its mean lies from that of the word before."""
    heard: Bool[Array, "episode moment agent"]


def told_in(networks: Networks, episodes: Episode, chance: Chance, *, roster_changes: bool) -> Told | None:
    """None where there is no coach."""
    mixer, actor = networks.critic, networks.actor
    if not (isinstance(mixer, CoachMixer) and isinstance(actor, CoachedActor)):
        return None
    assert episodes.global_states is not None, "entities are kept with the episodes"
    assert chance.noise is not None, "what is told is drawn"
    present, moments = jnp.asarray(episodes.present), episodes.present.shape[1]
    whole = jnp.asarray(episodes.global_states)
    words = mixer.coach.advice(whole[:, :: actor.every], present[:, :: actor.every])
    before = jnp.pad(words.mean[:, :-1], ((0, 0), (1, 0), (0, 0), (0, 0)))
    moved = jnp.linalg.norm(jax.lax.stop_gradient(words.mean - before), axis=-1)

    def held(part: Array) -> Array:
        again = jnp.broadcast_to(part[:, :, None], (*part.shape[:2], actor.every, *part.shape[2:]))
        return again.reshape(len(part), -1, *part.shape[2:])[:, :moments]

    heard = heard_by(present, actor.every) if roster_changes else present
    message = jnp.where(heard[..., None], held(words.drawn(chance.noise)), 0)
    return Told(message, jax.tree.map(held, words), held(moved), heard)


def heard_by(
    present: Bool[AnyArray, "episode moment agent"], every: int
) -> Bool[Array, "episode moment agent"]:
    """Who was there at the last word, and ever since."""
    moments = jnp.arange(present.shape[1])[:, None]
    came = jax.lax.cummax(jnp.where(joined(jnp.asarray(present)), moments, 0), axis=1)
    return present & (came <= moments - moments % every)


def says(
    actor: Actor, features: Float[Array, "... h"], told: Float[Array, "... number"] | None
) -> PolicyOutput:
    """What an actor says, from what is remembered and what it was told, if it listens to anybody."""
    if told is None:
        return actor.says(features)
    assert isinstance(actor, ListeningActor)
    return actor.says_told(features, told)


class Held(eqx.Module):
    """What a coach is held to, decision by decision; zero for who was told nothing."""

    surprise: Float[Array, "episode time agent"]
    entropy: Float[Array, "episode time agent"]
    moved: Float[Array, "episode time agent"]


def held_to(
    networks: Networks,
    episodes: Episode,
    features: Float[Array, "episode moment agent h"],
    told: Told,
    actions: int,
) -> Held:
    """How little what agents do tells of what they were told, and how various that is."""
    mixer = networks.critic
    assert isinstance(mixer, CoachMixer)
    assert episodes.global_states is not None
    done = jax.nn.one_hot(episodes.actions, actions)
    recognised = mixer.recognised(features[:, :-1], done, jnp.asarray(episodes.global_states[:, :-1]))
    before = jax.tree.map(lambda part: part[:, :-1], told)

    def of_told(values: Array) -> Array:
        return jnp.where(before.heard, values, 0)

    return Held(
        surprise=of_told(surprise(recognised, before.message)),
        entropy=of_told(before.source.entropy()),
        moved=of_told(before.moved),
    )
