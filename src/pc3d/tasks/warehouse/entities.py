"""RWARE thing by thing: robots, shelves and goals."""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from pc3d.experiment.mixes import Seen
from pc3d.tasks.capability_view import Able
from pc3d.tasks.entities import EntityKind, EntitySet, EntityView, view_of
from pc3d.tasks.warehouse.floor import NOTHING, NOWHERE, Floor

PLACES = ("column", "row")
DIRECTIONS = ("up", "down", "left", "right")
NO_CELL = 0  # a corner of the wall
OWN = ("carries a shelf", "on a highway")


class Robots(NamedTuple):
    """Those that are there; the others are nowhere and carry nothing."""

    cells: Int[Array, " agent"]
    directions: Int[Array, " agent"]
    carried: Int[Array, " agent"]
    sensor_range: int | Int[Array, "agent 1"]


class Shelves(NamedTuple):
    standing: Int[Array, " cell"]
    requests: Int[Array, " agent"]
    requested: Bool[Array, " shelf"]
    """From the one that is not there on."""


def warehouse_entities(floor: Floor, robots: Robots, shelves: Shelves, able: Able, seen: Seen) -> EntityView:
    """Robots see robots and shelves as far as their sensors reach. Goals, which no view tells, nobody sees.

    Whether a shelf in another robot's cell is carried is not told, either: so it is a thing of its own there.
    """
    here = robots.cells != NOWHERE
    turned = dict(zip(DIRECTIONS, jax.nn.one_hot(robots.directions, 4).T, strict=True))
    own = dict(zip(OWN, (robots.carried > 0, jnp.asarray(floor.highway)[robots.cells]), strict=True))
    team = EntityKind(
        "robot",
        {**_place(floor, robots.cells), **turned, **own, **able},
        here,
        shown=(*PLACES, *DIRECTIONS, *(able if seen == "visible" else ())),
        known=(*PLACES, *DIRECTIONS, *OWN, *(able if seen != "none" else ())),
    )
    at = _cells_of_shelves(floor, robots, shelves)
    stock = EntityKind(
        "shelf",
        {**_place(floor, at), "requested": shelves.requested[1:]},
        at != NO_CELL,
        shown=(*PLACES, "requested"),
    )
    goals = jnp.asarray(floor.goals, jnp.int32)
    ends = EntityKind("goal", _place(floor, goals), jnp.ones(goals.size, bool))
    cells = jnp.concatenate([robots.cells, at, goals])
    seen_cells = _apart(floor, robots.cells, cells) <= robots.sensor_range
    everything = view_of((team, stock, ends), seen_cells.at[:, -goals.size :].set(False), PLACES)
    return replace(
        everything,
        shown=everything.shown & _near_enough(floor, everything, robots.cells, cells, able),
        central=_central(everything, shelves, len(here)),
    )


def _place(floor: Floor, cells: Int[Array, " entity"]) -> dict[str, Array]:
    return dict(zip(PLACES, floor.column_and_row(cells), strict=True))


def _apart(
    floor: Floor, robots: Int[Array, " agent"], cells: Int[Array, " entity"]
) -> Int[Array, "agent entity"]:
    """How many cells a square around the robot has to reach out."""
    own, others = (jnp.stack(floor.column_and_row(part), axis=-1) for part in (robots, cells))
    return jnp.max(jnp.abs(own[:, None] - others[None, :]), axis=-1)


def _cells_of_shelves(floor: Floor, robots: Robots, shelves: Shelves) -> Int[Array, " shelf"]:
    """Where each stands, or the robot that carries it."""
    storage = jnp.asarray(floor.storage, jnp.int32)
    cells = jnp.full(floor.shelves + 1, NO_CELL, jnp.int32).at[shelves.standing[storage]].set(storage)
    return cells.at[robots.carried].set(robots.cells)[1:]


def _near_enough(
    floor: Floor, view: EntityView, robots: Int[Array, " agent"], cells: Int[Array, " entity"], able: Able
) -> Bool[Array, "agent entity feature"]:
    """What others are able to do is seen in the cells around alone, however far sensors reach."""
    capability = jnp.asarray([name in able for name in view.names])
    return (_apart(floor, robots, cells) <= 1)[..., None] | ~capability


def _central(view: EntityView, shelves: Shelves, slots: int) -> EntitySet:
    """Robots, the requested shelves and the goals: a few, in the place of every shelf."""
    wanted = slots + jnp.maximum(shelves.requests - 1, 0)
    goals = jnp.arange(slots + len(shelves.requested) - 1, len(view.there))
    chosen = jnp.concatenate([jnp.arange(slots), wanted, goals])
    is_open = jnp.ones(len(chosen), bool).at[slots : 2 * slots].set(shelves.requests != NOTHING)
    there = view.there[chosen] & is_open
    return EntitySet(jnp.where(there[:, None], view.features[chosen], 0), there, chosen)
