"""Level-based foraging thing by thing: agents and foods."""

import jax.numpy as jnp

from pc3d.experiment.mixes import Seen
from pc3d.tasks.capability_view import Able
from pc3d.tasks.entities import EntityKind, EntityView, view_of
from pc3d.tasks.foraging.sight import Observers, Placed, own_place, seen_foods, seen_teammates

PLACES = ("row", "column")
IN_WINDOW = ("row in window", "column in window")


def foraging_entities(agents: Observers, team: Placed, foods: Placed, able: Able, seen: Seen) -> EntityView:
    """Nobody knows where it is, but in its sight window; others it sees by their offsets from it."""
    level = ("level",)
    everybody = EntityKind(
        "agent",
        {
            **dict(zip(PLACES, team.positions.T, strict=True)),
            "level": team.levels,
            **dict(zip(IN_WINDOW, own_place(agents).T, strict=True)),
            **able,
        },
        team.there,
        shown=(*PLACES, *((*level, *able) if seen == "visible" else ())),
        known=(*IN_WINDOW, *((*level, *able) if seen != "none" else ())),
    )
    places = dict(zip(PLACES, foods.positions.T, strict=True))
    food = EntityKind("food", {**places, "level": foods.levels}, foods.there, shown=(*PLACES, *level))
    teammates = seen_teammates(agents, team)
    if seen != "visible":
        # A flat view shows a teammate in the agent's own cell by its level alone.
        apart = jnp.any(team.positions[None, :] != team.positions[:, None], axis=-1)
        teammates &= apart
    near = jnp.concatenate([teammates, seen_foods(agents, foods)], axis=-1)
    return view_of((everybody, food), near, PLACES)
