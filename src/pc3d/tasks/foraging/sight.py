"""What agents of level-based foraging see: the nearest foods and teammates within their sight."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pc3d.tasks.foraging.field import SIGHT
from pc3d.tasks.foraging.rules import FARTHEST_SIGHT

SEEN_FOODS, SEEN_TEAMMATES = 4, 4
FARTHEST = 2 * FARTHEST_SIGHT  # along a row or column, an entity is seen from at most so far
NOTHING = 2**30  # above every packed entity
# Below distance, row and column in a packed entity: any food's level, and more than any team has agents.
LEVEL_BITS, INDEX_BITS = 5, 10


class Observers(NamedTuple):
    """Some agents, with how far each of them sees where that differs."""

    number: Int[Array, " agent"]
    positions: Int[Array, "agent 2"]
    sights: Int[Array, " agent"] | None


class Placed(NamedTuple):
    """Foods or agents, and which of them are there."""

    positions: Int[Array, "entity 2"]
    levels: Int[Array, " entity"]
    there: Bool[Array, " entity"]


def own_place(agents: Observers) -> Int[Array, "agent 2"]:
    """Where an agent stands in its sight window, which the top and left border cut off."""
    return jnp.minimum(agents.positions, SIGHT if agents.sights is None else agents.sights[:, None])


def nearest_foods(agents: Observers, foods: Placed) -> Int[Array, "agent number"]:
    """Row offset, column offset and level of those seen: foods are seen by their distance."""
    return _unpacked(_foods(agents, foods))


def nearest_teammates(agents: Observers, team: Placed) -> Int[Array, "agent number"]:
    """The same of teammates."""
    return _unpacked(_teammates(agents, team))


def able_teammates(
    agents: Observers, team: Placed, able: Float[Array, "team capability"]
) -> Float[Array, "agent seen"]:
    """What the same teammates are able to do."""
    found = _teammates(agents, team)
    index = jnp.where(found < NOTHING, found & (1 << INDEX_BITS) - 1, 0)
    return jnp.where((found < NOTHING)[..., None], able[index], 0).reshape(len(found), -1)


def seen_foods(agents: Observers, foods: Placed) -> Bool[Array, "agent food"]:
    """Which foods the view of each agent has."""
    return _marked(_foods(agents, foods), foods.there.size)


def seen_teammates(agents: Observers, team: Placed) -> Bool[Array, "agent teammate"]:
    """Which teammates the view of each agent has."""
    return _marked(_teammates(agents, team), team.there.size)


def _foods(agents: Observers, foods: Placed) -> Int[Array, "agent found"]:
    offsets = foods.positions[None, :] - agents.positions[:, None]
    sight = SIGHT if agents.sights is None else agents.sights[:, None, None]
    seen = jnp.all(jnp.abs(offsets) <= sight, axis=-1) & foods.there
    return _nearest(offsets, foods.levels, seen, SEEN_FOODS)


def _teammates(agents: Observers, team: Placed) -> Int[Array, "agent found"]:
    """They are seen by their place in the sight window: near the top or left border from further away."""
    offsets = team.positions[None, :] - agents.positions[:, None]
    places = offsets + own_place(agents)[:, None]
    sight = SIGHT if agents.sights is None else agents.sights[:, None, None]
    seen = jnp.all((places >= 0) & (places <= 2 * sight), axis=-1)
    seen &= team.there & (agents.number[:, None] != jnp.arange(team.there.size))
    return _nearest(offsets, team.levels, seen, SEEN_TEAMMATES)


def _nearest(
    offsets: Int[Array, "agent entity 2"],
    levels: Int[Array, " entity"],
    seen: Bool[Array, "agent entity"],
    count: int,
) -> Int[Array, "agent found"]:
    """Those seen, nearest first.

    Each entity becomes one number with distance, row, column, level and index in its bits, from high to low.
    Then the next one is the smallest number above the last: on a CPU faster than ranks or a sort.
    """
    rows, columns = offsets[..., 0], offsets[..., 1]
    packed = rows**2 + columns**2
    packed = packed << 4 | rows + FARTHEST
    packed = packed << 4 | columns + FARTHEST
    packed = packed << LEVEL_BITS | levels
    packed = packed << INDEX_BITS | jnp.arange(levels.size, dtype=jnp.int32)
    packed = jnp.where(seen, packed, NOTHING)
    found = [jnp.min(packed, axis=-1)]
    while len(found) < count:
        found.append(jnp.min(jnp.where(packed > found[-1][:, None], packed, NOTHING), axis=-1))
    return jnp.stack(found, axis=-1)


def _marked(found: Int[Array, "agent found"], entities: int) -> Bool[Array, "agent entity"]:
    index = jnp.where(found < NOTHING, found & (1 << INDEX_BITS) - 1, entities)
    return jnp.any(index[..., None] == jnp.arange(entities), axis=-2)


def _unpacked(numbers: Int[Array, "agent found"]) -> Int[Array, "agent number"]:
    """Row offset, column offset and level, zero where there are fewer."""
    numbers = numbers[..., None]
    shift, mask, origin = jnp.asarray(
        [[LEVEL_BITS + 4, LEVEL_BITS, 0], [15, 15, 2**LEVEL_BITS - 1], [FARTHEST, FARTHEST, 0]], jnp.int32
    )
    shift += INDEX_BITS
    entities = jnp.where(numbers < NOTHING, (numbers >> shift & mask) - origin, 0)
    return entities.reshape(len(numbers), -1)
