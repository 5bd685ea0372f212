"""Unlike robots, our extension of RWARE: how often they act, how far they see, and who carries."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.described import ObservationPart
from pc3d.tasks.warehouse.floor import NOWHERE, UP, Floor
from pc3d.tasks.warehouse.rules import CAPABILITIES

FURTHER_CELLS = 16  # of 5 × 5, without the nine that everybody sees
FURTHER = ObservationPart(
    "sixteen cells around those, row by row, in the same way; zeros with a sensor range of 1",
    FURTHER_CELLS * 7,
)
NEIGHBOURS = 8  # cells in which teammates are seen


class Abilities(NamedTuple):
    """What each robot is able to do, in the order of the task's capabilities."""

    period: Int[Array, " agent"]
    sensor_range: Int[Array, " agent"]
    carries: Bool[Array, " agent"]


def abilities(capabilities: AnyArray) -> Abilities:
    columns = jnp.asarray(capabilities).T.astype(jnp.int32)
    period, sensor_range, carries = columns[: len(CAPABILITIES)]
    return Abilities(jnp.maximum(period, 1), sensor_range, carries > 0)


def acting(able: Abilities, time: Int[AnyArray, ""]) -> Bool[Array, " agent"]:
    """Whose turn it is: a robot with a period of k acts in every k-th step, the first one included."""
    return jnp.asarray(time) % able.period == 0


def further_words(
    floor: Floor, words: Int[Array, " cell"], cells: Int[Array, " agent"], able: Abilities
) -> Int[Array, "agent 16"]:
    """What those see who see further than the nine cells around them; beyond the walls there is nothing."""
    # One wall is between two rows, so that two cells to the side are never in the row itself.
    places = cells[:, None] + floor.further
    seen = words.at[places].get(mode="fill", fill_value=2 << UP, wrap_negative_indices=False)
    return jnp.where((able.sensor_range > 1)[:, None], seen, 0)


def able_neighbours(
    floor: Floor, cells: Int[Array, " agent"], scaled: Float[Array, "agent capability"]
) -> Float[Array, "agent number"]:
    """What the robots in the eight cells around are able to do, cell by cell."""
    there = jnp.where(cells == NOWHERE, floor.size, cells)
    by_cell = jnp.zeros((floor.size, scaled.shape[1])).at[there].set(scaled, mode="drop")
    around = jnp.delete(jnp.asarray(floor.around), NEIGHBOURS // 2)
    return by_cell[cells[:, None] + around].reshape(len(cells), -1)
