"""Simple Spread thing by thing: agents and landmarks."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pc3d.experiment.mixes import Seen
from pc3d.tasks.capability_view import Able
from pc3d.tasks.entities import EntityKind, EntityView, view_of
from pc3d.tasks.spread.bodies import Bodies, among_nearest

PLACES = ("x", "y")
OWN = (*PLACES, "velocity x", "velocity y")


def spread_entities(
    agents: Bodies, landmarks: Bodies, velocities: Float[Array, "agent 2"], able: Able, seen: Seen
) -> EntityView:
    """Everybody sees the three nearest landmarks and teammates, and knows its own place and velocity."""
    moving = dict(zip(OWN, (*agents.places.T, *velocities.T), strict=True))
    team = EntityKind(
        "agent",
        {**moving, **able},
        agents.present,
        shown=(*PLACES, *(able if seen == "visible" else ())),
        known=(*OWN, *(able if seen != "none" else ())),
    )
    targets = dict(zip(PLACES, landmarks.places.T, strict=True))
    marks = EntityKind("landmark", targets, landmarks.present, shown=PLACES)
    near = (among_nearest(agents, agents, others=True), among_nearest(agents, landmarks))
    return view_of((team, marks), jnp.concatenate(near, axis=-1), PLACES)
