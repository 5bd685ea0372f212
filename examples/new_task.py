"""A task of your own, one file and one line: agents on a line must meet in the middle of their team."""
# ruff: noqa: ARG002

from dataclasses import dataclass, replace
from tempfile import mkdtemp

import jax
import jax.numpy as jnp

import pc3d
from pc3d.evaluation.run import EvaluationSettings
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.experiment.world import Rules
from pc3d.tasks.entry import TaskEntry
from pc3d.tasks.registry import TASKS
from pc3d.tasks.task import ObservationPart, Outcome, Task, WorldState, scalar


class MeetingState(WorldState):
    places: jax.Array  # one number per slot, beside the team size and the time that every state has


@dataclass(frozen=True)
class Meeting(Task[MeetingState]):
    name, horizon, smallest_team, largest_team = "meeting", 20, 2, 8
    action_names, measure_names = ("left", "stay", "right"), ("apart",)
    observation_layout = (ObservationPart("own place", 1), ObservationPart("way to the team's middle", 1))
    return_definition = "minus the mean way to the team's middle, summed over 20 steps"

    def reset(self, key, team_size):  # drawn for the largest team: a wider world changes nobody's start
        return MeetingState(scalar(team_size), scalar(0), 2 * jax.random.uniform(key, (8,))[: self.slots] - 1)

    def step(self, key, state, actions):
        moved = MeetingState(state.team_size, state.time + 1, state.places + 0.1 * (actions - 1))
        apart = jnp.mean(jnp.abs(self.observe(moved)[:, 1]), where=self.present(moved))
        return moved, Outcome(-apart, jnp.asarray(False), moved.time >= self.horizon, {"apart": apart})

    def observe(self, state):
        to_middle = jnp.mean(state.places, where=self.present(state)) - state.places
        return jnp.where(self.present(state)[:, None], jnp.stack([state.places, to_middle], axis=-1), 0)

    def global_state(self, state):
        return jnp.pad(self.observe(state), ((0, self.largest_team - self.slots), (0, 0))).ravel()

    def draw(self, state, *, size=480, show_range=False):
        raise NotImplementedError("nobody has drawn a meeting yet")  # only films of it would need this


TASKS["meeting"] = TaskEntry("Meeting", Meeting)  # the one line
rosters = Rosters(train=(2, 3, 4), test=(6, 8))
curriculum = Curriculum((Stage(1.0, team_sizes=(2, 3, 4), probabilities=(0.3, 0.3, 0.4)),))
spread = pc3d.paper("spread", "pc3d", episodes=128)  # whose networks and PPO settings we borrow
experiment = replace(spread, task="meeting", rules=Rules(), rosters=rosters, curriculum=curriculum)
run = pc3d.train(experiment, mkdtemp())
for size, returns in pc3d.evaluate(run.path, settings=EvaluationSettings(rollouts=32)).items():
    print(f"{size} agents ({rosters.split_of(size)}): {returns.mean():.2f} on average")
