"""A task whose agents come and go within an episode, by a fixed rota."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from pc3d.tasks.task import ObservationPart, Outcome, Task, WorldState, scalar

# By slot, at the moments 0 to 7. A second one in a slot is somebody else.
ROTA = np.array(
    [
        [1, 1, 1, 1, 1, 1, 1, 1],  # always there
        [1, 1, 0, 0, 1, 1, 1, 1],  # leaves, and the slot is taken anew
        [1, 1, 1, 0, 0, 0, 0, 0],  # leaves for good
        [0, 0, 1, 1, 1, 0, 1, 1],  # comes late, leaves, and the slot is taken anew
    ],
    bool,
).T
RETAKEN, TAKEN_ANEW = 1, 4  # a slot, and when its second agent comes


class ComingState(WorldState):
    places: jax.Array


@dataclass(frozen=True)
class ComingAndGoing(Task[ComingState]):
    """Agents on a line, each rewarded for going right; they do not see each other.

    Nothing in it is random: that would be most of what there is to compile.
    """

    slots: int = 4
    past: float = 0.0
    """What the first agent of the slot that is retaken sees besides: an episode with another past."""
    spoilt: bool = False
    """Whether slots that nobody fills see NaN: nobody should notice."""

    name: ClassVar[str] = "coming and going"
    horizon: ClassVar[int] = len(ROTA) - 1
    action_names: ClassVar[tuple[str, ...]] = ("left", "stay", "right")
    observation_layout: ClassVar[tuple[ObservationPart, ...]] = (
        ObservationPart("place", 1),
        ObservationPart("time", 1),
        ObservationPart("past", 1),
    )
    measure_names: ClassVar[tuple[str, ...]] = ()
    smallest_team: ClassVar[int] = 1
    largest_team: ClassVar[int] = 6
    roster_changes: ClassVar[bool] = True
    return_definition = "the mean way to the right"

    def present(self, state):
        rota = np.pad(ROTA, [(0, 0), (0, self.largest_team - ROTA.shape[1])])[:, : self.slots]
        return jnp.asarray(rota)[state.time] & super().present(state)

    def reset(self, key, team_size):
        return ComingState(scalar(team_size), scalar(0), self._entrances())

    def step(self, key, state, actions):
        ways = actions - 1.0
        following = ComingState(state.team_size, state.time + 1, state.places + 0.2 * ways)
        joined = self.present(following) & ~self.present(state)
        places = jnp.where(joined, self._entrances(), following.places)
        following = ComingState(following.team_size, following.time, places)
        reward = jnp.mean(ways, where=self.present(state))
        return following, Outcome(reward, jnp.asarray(False), following.time >= self.horizon, {})

    def observe(self, state):
        first_of_retaken = (jnp.arange(self.slots) == RETAKEN) & (state.time < TAKEN_ANEW)
        clock = jnp.full(self.slots, state.time / self.horizon)
        views = jnp.stack([state.places, clock, jnp.where(first_of_retaken, self.past, 0)], axis=-1)
        return jnp.where(self.present(state)[:, None], views, jnp.nan if self.spoilt else 0.0)

    def global_state(self, state):
        return jnp.zeros(1)

    def _entrances(self):
        return 0.5 * jnp.arange(self.slots) - 0.7


@dataclass(frozen=True)
class Staying(ComingAndGoing):
    """The same game, whose agents might go and never do."""

    def present(self, state):
        return Task.present(self, state)


@dataclass(frozen=True)
class SettledTeam(Staying):
    """The same, and it is known beforehand that nobody goes."""

    roster_changes: ClassVar[bool] = False
