"""Where agents and foods of level-based foraging lie, and how heavy food is."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt

from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.foraging.field import Field
from pc3d.tasks.foraging.rules import LEVEL
from pc3d.tasks.loops import UNROLLED

HIGHEST_LEVEL = 2
FOOD_APART = 2  # foods are more steps apart than this


def lifted_by_weakest(
    levels: Int[Array, " agent"], pool: Bool[Array, " agent"], lifters: Int[Array, ""]
) -> Int[Array, ""]:
    """The smallest levels of a pool, summed. They are 1 or 2, so that counting does for sorting."""
    weak = jnp.minimum(lifters, jnp.sum(pool & (levels == 1), dtype=jnp.int32))
    return weak + HIGHEST_LEVEL * (lifters - weak)


def lifted_by_weakest_of_any_level(
    levels: Int[Array, " agent"], pool: Bool[Array, " agent"], lifters: Int[Array, ""]
) -> Int[Array, ""]:
    """The same where levels may be others."""
    weakest = jnp.sort(jnp.where(pool, levels, jnp.iinfo(jnp.int32).max))
    return jnp.sum(jnp.where(jnp.arange(weakest.size) < lifters, weakest, 0), dtype=jnp.int32)


def with_levels(
    able: Float[AnyArray, "agent capability"], usual: Int[AnyArray, " agent"]
) -> tuple[Float[Array, "agent capability"], Int[Array, " agent"]]:
    """Capabilities and levels of everybody: the usual level where a kind says nothing of it."""
    able = jnp.asarray(able)
    levels = jnp.where(jnp.isnan(able[:, LEVEL]), usual, able[:, LEVEL]).astype(jnp.int32)
    return able.at[:, LEVEL].set(levels), levels


def marked(
    field: Field, places: Int[Array, "entity 2"], real: Bool[Array, " entity"]
) -> Bool[Array, " cell"]:
    """The cells where something is."""
    numbers = jnp.where(real, places[:, 0] * field.side + places[:, 1], len(field.cells))
    return jnp.zeros(len(field.cells), bool).at[numbers].set(True, mode="drop")


def place_agents(field: Field, priorities: UInt[Array, " cell"], slots: int) -> Int[Array, "agent 2"]:
    """Each agent takes the first free cell of a random order: uniform, as the original's trial and error."""

    def place(left: UInt[Array, " cell"], _: None) -> tuple[UInt[Array, " cell"], Int[Array, ""]]:
        cell = jnp.argmax(left)
        return jnp.where(jnp.arange(left.size) == cell, 0, left), cell

    cells = jax.lax.scan(place, priorities, length=slots, unroll=UNROLLED)[1]
    return jnp.asarray(field.cells)[cells]


def place_foods(
    field: Field,
    priorities: UInt[Array, " cell"],
    agents: Int[Array, "agent 2"],
    present: Bool[Array, " agent"],
) -> tuple[Int[Array, "food 2"], Bool[Array, " food"]]:
    """Foods lie off the border, on nobody, and more than two steps from each other; and which find a place.

    The random order of the agents serves again: among the cells that they left it is still uniform.
    """
    free = jnp.asarray(field.inside) & ~marked(field, agents, present)

    def place(free: Bool[Array, " cell"], _: None) -> tuple[Bool[Array, " cell"], tuple[Array, Array]]:
        food = jnp.asarray(field.cells)[jnp.argmax(jnp.where(free, priorities, 0))]
        apart = jnp.sum(jnp.abs(field.cells - food), axis=-1) > FOOD_APART
        return free & apart, (food, jnp.any(free))

    return jax.lax.scan(place, free, length=field.foods, unroll=UNROLLED)[1]
