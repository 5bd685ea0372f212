"""Entities as rows of numbers: what an agent sees, or all there is, in the shape of an observation.

A row is an entity's features and, last, its number: 0 where nothing is, from 1 up for agents and from −1 down
for all else, so that a wider world changes no number. Numbers say who is who; networks do not read them.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Shaped

from pc3d.tasks.entities import EntityView


class Rows(NamedTuple):
    """Rows taken apart."""

    features: Float[Array, "... entity feature"]
    numbers: Int[Array, "... entity"]


def seen_rows(view: EntityView, most: int) -> Float[Array, "agent number"]:
    """What each agent sees, itself first, in so many rows."""
    agents, entities = view.visible.shape
    own = jnp.eye(agents, entities, dtype=bool)
    order = jnp.argsort(jnp.where(own, 0, jnp.where(view.visible, 1, 2)), axis=-1)[:, :most]
    features = jnp.take_along_axis(view.seen_by_each(), order[..., None], axis=1)
    seen = jnp.take_along_axis(view.visible, order, axis=1)
    return _packed(features, jnp.where(seen, _numbers(agents, order), 0), most)


def central_rows(view: EntityView, most: int) -> Float[Array, " number"]:
    """What central parts are given, in so many rows; the first of them are the agents."""
    numbers = _numbers(len(view.shown), view.central.which)
    return _packed(view.central.features, jnp.where(view.central.there, numbers, 0), most)


def unpacked(rows: Float[Array, "... number"], features: int) -> Rows:
    """Rows with so many features each."""
    apart = rows.reshape(*rows.shape[:-1], -1, features + 1)
    return Rows(apart[..., :-1], apart[..., -1].astype(jnp.int32))


def all_rows(whole: Float[Array, "... number"], features: int) -> Rows:
    """Those that central parts are given; nothing of what stands where nothing is."""
    rows = unpacked(whole, features)
    return Rows(jnp.where(rows.numbers[..., None] != 0, rows.features, 0), rows.numbers)


def renumbered(rows: Rows, numbers: Int[Array, "... entity"]) -> Float[Array, "... number"]:
    """The same with other numbers; whatever gets none is no longer seen."""
    return _packed(rows.features, numbers, numbers.shape[-1])


def _numbers(agents: int, which: Int[Array, "..."]) -> Int[Array, "..."]:
    return jnp.where(which < agents, which + 1, agents - 1 - which)


def _packed(
    features: Float[Array, "... entity feature"], numbers: Shaped[Array, "... entity"], most: int
) -> Float[Array, "... number"]:
    together = jnp.concatenate([features, numbers[..., None].astype(features.dtype)], axis=-1)
    missing = [(0, 0)] * (together.ndim - 2) + [(0, most - together.shape[-2]), (0, 0)]
    padded = jnp.pad(together, missing)
    return padded.reshape(*padded.shape[:-2], -1)
