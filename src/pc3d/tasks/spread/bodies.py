"""Bodies in Simple Spread: how far they are from each other, who touches whom, and who is nearest."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pc3d.tasks.loops import by_blocks, one_by_one
from pc3d.tasks.spread.rules import CAPABILITIES, CONTACT_DISTANCE, HELD_WITHIN, NEIGHBOURS
from pc3d.tasks.task import WorldState

CONTACT_FORCE = 100.0
CONTACT_MARGIN = 1e-3


class Abilities(NamedTuple):
    """What each agent is able to do, in the order of the task's capabilities."""

    size: Float[Array, "agent 1"]
    acceleration: Float[Array, "agent 1"]
    top_speed: Float[Array, "agent 1"]
    mass: Float[Array, "agent 1"]


def abilities(state: WorldState) -> Abilities | None:
    """None where all agents are alike."""
    if state.capabilities is None:
        return None
    return Abilities(*jnp.split(jnp.asarray(state.capabilities), len(CAPABILITIES), axis=-1))


class Bodies(NamedTuple):
    """Agents or landmarks."""

    number: Int[Array, " body"]
    places: Float[Array, "body 2"]
    present: Bool[Array, " body"]
    sizes: Float[Array, " body"] | None = None  # where they differ


def bodies(
    places: Float[Array, "body 2"], present: Bool[Array, " body"], able: Abilities | None = None
) -> Bodies:
    return Bodies(jnp.arange(present.size), places, present, able and able.size[:, 0])


def _contact_distance(agents: Bodies, targets: Bodies) -> float | Float[Array, "target agent"]:
    """How near two must be to touch."""
    if agents.sizes is None or targets.sizes is None:
        return CONTACT_DISTANCE
    return targets.sizes[:, None] + agents.sizes[None, :]


class Offsets(NamedTuple):
    """From each agent to each target, or one; x and y apart: a CPU is slow along an axis of two numbers."""

    x: Float[Array, "*target agent"]
    y: Float[Array, "*target agent"]
    length: Float[Array, "*target agent"]


def _offsets(agents: Bodies, targets: Bodies, *, others: bool = False) -> Offsets:
    """Zero but infinitely long where somebody is absent, or if only others count and it is the agent itself.

    So nothing there is near, touches or pushes.
    """
    real = targets.present[:, None] & agents.present[None, :]
    if others:
        real &= targets.number[:, None] != agents.number[None, :]
    x, y = (
        jnp.where(real, targets.places[:, None, axis] - agents.places[None, :, axis], 0) for axis in (0, 1)
    )
    return Offsets(x, y, jnp.where(real, jnp.sqrt(x**2 + y**2), jnp.inf))


def at_most(top_speed: Float[Array, "agent 1"], velocities: Float[Array, "agent 2"]) -> Array:
    speed = jnp.sqrt(jnp.sum(velocities**2, axis=-1, keepdims=True))
    return jnp.where(speed > top_speed, velocities / speed * top_speed, velocities)


def contact_forces(agents: Bodies) -> Float[Array, "agent 2"]:
    def pushed(block: Bodies) -> Float[Array, "agent 2"]:
        to, touching = _offsets(block, agents, others=True), _contact_distance(block, agents)
        penetration = jnp.logaddexp(0, -(to.length - touching) / CONTACT_MARGIN) * CONTACT_MARGIN
        push = CONTACT_FORCE * penetration / to.length
        return -jnp.stack([jnp.sum(to.x * push, axis=0), jnp.sum(to.y * push, axis=0)], axis=-1)

    return by_blocks(pushed, agents)


def landmark_distance(agents: Bodies, landmarks: Bodies) -> Float[Array, ""]:
    nearest = by_blocks(lambda block: jnp.min(_offsets(block, agents).length, axis=0), landmarks)
    return jnp.sum(nearest, where=landmarks.present)


def holding(agents: Bodies, landmarks: Bodies) -> Bool[Array, " agent"]:
    """Which agents are where a landmark is."""

    def near_one(block: Bodies) -> Bool[Array, " agent"]:
        return jnp.any(_offsets(block, landmarks).length < HELD_WITHIN, axis=0)

    return by_blocks(near_one, agents)


def colliding_pairs(agents: Bodies) -> Float[Array, ""]:
    return jnp.sum(touched(agents)).astype(agents.places.dtype) / 2


def touched(agents: Bodies) -> Int[Array, " agent"]:
    """How many others each agent touches."""

    def count(block: Bodies) -> Int[Array, " agent"]:
        near = _offsets(block, agents, others=True).length < _contact_distance(block, agents)
        return jnp.sum(near, axis=0)

    return by_blocks(count, agents)


def nearest_of_all(block: Bodies, agents: Bodies, landmarks: Bodies) -> Float[Array, "agent 12"]:
    to_landmarks, to_teammates = _offsets(block, landmarks), _offsets(block, agents, others=True)
    return jnp.concatenate([_nearest(to_landmarks), _nearest(to_teammates)], axis=-1)


def among_nearest(agents: Bodies, targets: Bodies, *, others: bool = False) -> Bool[Array, "agent target"]:
    """Which targets each agent sees: the same as `nearest_of_all` shows."""
    away = _offsets(agents, targets, others=others).length
    seen = jnp.zeros(away.shape, bool)
    for _ in range(NEIGHBOURS):  # one after another: on a CPU faster than a sort
        left = jnp.where(seen, jnp.inf, away)
        seen |= (targets.number[:, None] == jnp.argmin(left, axis=0)) & jnp.isfinite(left)
    return seen.T


def able_teammates(
    block: Bodies, agents: Bodies, able: Float[Array, "team capability"]
) -> Float[Array, "agent seen"]:
    """What the nearest teammates are able to do, in the order in which they are seen."""
    away = _offsets(block, agents, others=True).length
    nearest = jnp.argsort(away, axis=0, stable=True)[:NEIGHBOURS].T
    there = jnp.isfinite(jnp.take_along_axis(away.T, nearest, axis=1))
    seen = jnp.where(there[..., None], able[nearest], 0).reshape(len(block.number), -1)
    places = NEIGHBOURS * able.shape[1]
    return jnp.pad(seen, ((0, 0), (0, places - seen.shape[1])))  # of teams with fewer slots


def _nearest(offsets: Offsets) -> Float[Array, "agent 6"]:
    """Offsets to the nearest targets, nearest first, zero where there are fewer.

    Targets are sorted in one by one, for all agents at once: on a CPU several times faster than a sort.
    """
    nowhere = jnp.zeros_like(offsets.x[0])
    nobody = Offsets(nowhere, nowhere, jnp.full_like(nowhere, jnp.inf))
    nearest = one_by_one(_sorted_in, (nobody,) * NEIGHBOURS, offsets)
    return jnp.stack([value for offset in nearest for value in (offset.x, offset.y)], axis=-1)


def _sorted_in(nearest: tuple[Offsets, ...], candidate: Offsets) -> tuple[Offsets, ...]:
    kept = []
    for held in nearest:
        nearer = candidate.length < held.length
        kept.append(_choose(nearer, candidate, held))
        candidate = _choose(nearer, held, candidate)
    return tuple(kept)


def _choose(condition: Bool[Array, " agent"], one: Offsets, other: Offsets) -> Offsets:
    return Offsets(*(jnp.where(condition, *values) for values in zip(one, other, strict=True)))
