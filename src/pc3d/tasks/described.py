"""A task known by its description alone: its worlds live elsewhere, or its code was not asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pc3d.experiment.roster_process import CONSTANT, RosterProcess
from pc3d.experiment.world import ObservationPart, OwnWorld
from pc3d.system.bounds import within
from pc3d.system.errors import BadInput
from pc3d.tasks.arrays import Amount, Count
from pc3d.tasks.entities import without_rows

LARGEST_TEAM = 1000  # no world is near it; a slip of the finger should not fill the memory


@dataclass(frozen=True, kw_only=True)
class DescribedTask(OwnWorld):
    """All that a `Task` has but its rules: hashable settings, so that it is static to `jax.jit`."""

    slots: int
    name: str

    measure_names: ClassVar[tuple[str, ...]] = ()
    fewest_present: ClassVar[int] = 1
    has_entities: ClassVar[bool] = False
    by_entity: ClassVar[bool] = False
    split: ClassVar[None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        within(f"the team size of {self.name}", self.slots, 1, LARGEST_TEAM)

    @property
    def action_count(self) -> int:
        return self.action_space.width

    @property
    def layout(self) -> tuple[ObservationPart, ...]:
        if self.observation_parts:
            return self.observation_parts
        shape = " × ".join(map(str, self.observation_shape))
        return (ObservationPart(f"the task's own observation, {shape} numbers", self.observation_width),)

    def reported_return(self, total_reward: Amount, team_size: Count) -> Any:
        """The sum of team rewards, as it is."""
        del team_size
        return total_reward

    def with_roster(self, roster: RosterProcess) -> DescribedTask:
        """Worlds that live elsewhere keep their teams as they are."""
        if roster != CONSTANT:
            raise BadInput(
                f"{self.name} has constant rosters: only worlds compiled with pc3d can change them"
            )
        return self

    def shown_by_entity(self) -> DescribedTask:
        """A description has the flat view alone."""
        raise BadInput(without_rows(self.name))

    def slots_for(self, team_size: int) -> int:
        """How many a team needs that begins with so many agents."""
        return team_size + self.spare_slots

    def with_slots(self, slots: int) -> DescribedTask:
        """The same game, padded to another width."""
        return replace(self, slots=slots)
