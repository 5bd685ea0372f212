"""What a PettingZoo environment tells of itself by attributes that PettingZoo does not ask for."""

from collections.abc import Mapping
from typing import Any

from pc3d.experiment.world import ObservationPart
from pc3d.play.hosted.attendance import SLOTS_NAME
from pc3d.play.hosted.world import ContractBroken

LIMIT_NAMES = ("horizon", "max_cycles")
PARTS_NAME = "observation_parts"


def told_limit(environment: Any) -> int | None:
    """The environment's own time limit, where an attribute tells it."""
    for owner in _owners(environment):
        for name in LIMIT_NAMES:
            limit = getattr(owner, name, None)
            if isinstance(limit, int) and limit > 0:
                return limit
    return None


def told_slots(environment: Any, team_size: int) -> int:
    """How many agents there is room for; else as many as there are at the start."""
    slots = _told(environment, SLOTS_NAME, team_size)
    if type(slots) is not int or slots < team_size:
        raise ContractBroken(
            f"{SLOTS_NAME} must be a whole number, for make({team_size}) at least {team_size}, not {slots!r}"
        )
    return slots


def told_parts(environment: Any, width: int) -> tuple[ObservationPart, ...]:
    """What it calls the parts of an observation of this width, in their order; none if it says nothing."""
    told = _told(environment, PARTS_NAME, {})
    if not isinstance(told, Mapping) or not all(_is_part(*part) for part in told.items()):
        raise ContractBroken(f"{PARTS_NAME} must say of each part how many numbers it has, as name: width")
    if told and sum(told.values()) != width:
        raise ContractBroken(
            f"{PARTS_NAME} has {sum(told.values())} numbers in all, and an observation has {width}"
        )
    return tuple(ObservationPart(name, width) for name, width in told.items())


def _told(environment: Any, name: str, otherwise: Any) -> Any:
    return next((getattr(owner, name) for owner in _owners(environment) if hasattr(owner, name)), otherwise)


def _owners(environment: Any) -> tuple[Any, ...]:
    """Whose attributes count: the environment's, and those of what it is wrapped around."""
    return environment, getattr(environment, "unwrapped", None)


def _is_part(name: Any, width: Any) -> bool:
    return isinstance(name, str) and type(width) is int and width > 0
