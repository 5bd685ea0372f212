"""A world thing by thing, and who sees what of each: for networks that attend to entities.

What everybody sees of them together is what its flat observation tells, no more and no less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Shaped

from pc3d.tasks.arrays import AnyArray


class EntitySet(eqx.Module):
    """Things as they are, whoever sees them: for central parts, such as a coach or a mixer."""

    features: Float[AnyArray, "entity feature"]
    """Absolute, one column for each name; zero where nothing is."""
    there: Bool[AnyArray, " entity"]
    which: Int[AnyArray, " entity"]
    """Where each of them stands among those of the view."""


class EntityView(eqx.Module):
    """The same for agents: first themselves, slot by slot, then all else."""

    features: Float[AnyArray, "entity feature"]
    there: Bool[AnyArray, " entity"]
    shown: Bool[AnyArray, "agent entity feature"]
    """Who sees which number of which entity."""
    central: EntitySet
    """What central parts are given."""
    names: tuple[str, ...] = eqx.field(static=True)
    """Of the features."""
    places: int = eqx.field(static=True)
    """How many of them, the first ones, say where something is."""

    @property
    def visible(self) -> Bool[Array, "agent entity"]:
        """Who sees which entity at all; whoever is there sees itself."""
        return jnp.any(self.shown, axis=-1)

    def seen_by_each(self) -> Float[Array, "agent entity feature"]:
        """What each agent knows of everything: places relative to its own, zero where it knows nothing.

        Networks read this, never `features`: absolute places of others would tell where the reader is.
        """
        where, what = jnp.split(jnp.asarray(self.features), [self.places], axis=-1)
        agents = self.shown.shape[0]
        relative = where[None] - where[:agents, None]
        own = jnp.eye(agents, len(where), dtype=bool)[..., None]
        rest = jnp.broadcast_to(what, (agents, *what.shape))
        everything = jnp.concatenate([jnp.where(own, where, relative), rest], axis=-1)
        return jnp.where(self.shown, everything, 0)


class EntityKind(NamedTuple):
    """Things of one kind, which a column of its name marks."""

    name: str
    columns: Mapping[str, Shaped[Array, " entity"]]
    there: Bool[Array, " entity"]
    shown: Sequence[str] = ()
    """Which columns others see, if they see the thing."""
    known: Sequence[str] = ()
    """Which columns it knows of itself, if it is an agent."""


def view_of(
    kinds: Sequence[EntityKind],
    visible: Bool[Array, "agent entity"],
    places: Sequence[str],
    central: EntitySet | None = None,
) -> EntityView:
    """All kinds together, agents first; central parts get all of it if nothing else is said."""
    columns = dict.fromkeys(name for kind in kinds for name in kind.columns if name not in places)
    names = (*places, *columns, *(kind.name for kind in kinds))
    everything = EntitySet(
        jnp.concatenate([_rows(kind, names) for kind in kinds]),
        jnp.concatenate([kind.there for kind in kinds]),
        jnp.arange(sum(len(kind.there) for kind in kinds)),
    )
    to_others, to_self = (
        np.repeat(
            [[name in (kind.name, *said) for name in names] for kind, said in zip(kinds, parts, strict=True)],
            [len(kind.there) for kind in kinds],
            axis=0,
        )
        for parts in ([kind.shown for kind in kinds], [kind.known for kind in kinds])
    )
    own = jnp.eye(len(visible), visible.shape[1], dtype=bool)
    visible = (visible | own) & everything.there & everything.there[: len(visible), None]
    shown = visible[..., None] & jnp.where(own[..., None], to_self, to_others)
    whole = everything if central is None else central
    return EntityView(everything.features, everything.there, shown, whole, names, len(places))


def _rows(kind: EntityKind, names: Sequence[str]) -> Float[Array, "entity feature"]:
    nothing = jnp.zeros(len(kind.there))
    filled = {**kind.columns, kind.name: nothing + 1}
    rows = jnp.stack([jnp.asarray(filled.get(name, nothing), float) for name in names], axis=-1)
    return jnp.where(kind.there[:, None], rows, 0)


def without_entities(task: str) -> str:
    """What is said of a task that does not offer them."""
    return (
        f"{task} does not say who sees what: a task compiled with pc3d can, by an `entities` function "
        "(docs/extending.md)"
    )


def without_rows(task: str) -> str:
    """What is said of a task whose entities cannot be shown one by one."""
    return (
        f"{task} does not show entities one by one, which this method learns from: take spread, lbf or "
        "rware, or a method that learns from the flat view"
    )
