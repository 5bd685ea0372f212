"""An actor that is told something by a coach now and then."""

from __future__ import annotations

import equinox as eqx
from jaxtyping import PRNGKeyArray

from pc3d.experiment.algorithm_settings import CoachSettings
from pc3d.networks.actor import Actor
from pc3d.networks.coach import Coach
from pc3d.networks.listening_actor import ListeningActor


class CoachedActor(ListeningActor):
    """Listens to what its coach says."""

    every: int = eqx.field(static=True)
    """Steps from one broadcast to the next, as it was trained."""
    coach: Coach | None
    """Who tells it, in a policy; while it learns the coach is a part of the mixer."""

    def __init__(self, key: PRNGKeyArray, alone: Actor, settings: CoachSettings) -> None:
        super().__init__(key, alone, settings.width)
        self.every, self.coach = settings.every, None


def with_coach(actor: CoachedActor, coach: Coach) -> CoachedActor:
    """What acts: whoever is told something, and who tells it."""
    return eqx.tree_at(lambda one: one.coach, actor, coach, is_leaf=lambda leaf: leaf is None)
