"""A task whose actions are real numbers: agents on a plane say how far they go, and should meet."""

from dataclasses import dataclass, replace
from tempfile import mkdtemp

import jax
import jax.numpy as jnp

import pc3d
from pc3d.evaluation.run import EvaluationSettings
from pc3d.experiment.action_space import Box
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.experiment.world import Rules
from pc3d.tasks.entry import TaskEntry
from pc3d.tasks.registry import TASKS
from pc3d.tasks.task import ObservationPart, Outcome, Task, WorldState, scalar


class GatheringState(WorldState):
    places: jax.Array  # two numbers per slot


@dataclass(frozen=True)
class Gathering(Task[GatheringState]):
    name, horizon, smallest_team, largest_team = "gathering", 20, 2, 6
    action_space = Box(names=("east", "north"), low=(-0.2, -0.2), high=(0.2, 0.2))
    observation_layout = (ObservationPart("own place", 2), ObservationPart("way to the team's middle", 2))
    measure_names, return_definition = (), "minus the mean way to the middle, summed over 20 steps"

    def reset(self, key, team_size):  # drawn for the largest team: a wider world changes nobody's start
        places = 2 * jax.random.uniform(key, (self.largest_team, 2))[: self.slots] - 1
        return GatheringState(scalar(team_size), scalar(0), places)

    def step(self, key, state, actions):  # of shape (slots, 2), always within the bounds
        del key  # nothing is left to chance
        moved = GatheringState(state.team_size, state.time + 1, state.places + actions)
        ways = jnp.linalg.norm(self.observe(moved)[:, 2:], axis=-1)
        reward = -jnp.mean(ways, where=self.present(moved))
        return moved, Outcome(reward, jnp.asarray(False), moved.time >= self.horizon, {})

    def observe(self, state):
        present = self.present(state)[:, None]
        to_middle = jnp.mean(state.places, axis=0, where=present) - state.places
        return jnp.where(present, jnp.concatenate([state.places, to_middle], axis=-1), 0)

    def global_state(self, state):
        return jnp.pad(self.observe(state), ((0, self.largest_team - self.slots), (0, 0))).ravel()


if __name__ == "__main__":
    TASKS["gathering"] = TaskEntry("Gathering", Gathering)
    rosters, stage = Rosters(train=(2, 3, 4), test=(6,)), Stage(1.0, (2, 3, 4), (0.3, 0.3, 0.4))
    spread = pc3d.paper("spread", "pc3d", episodes=128)  # whose networks and PPO settings we borrow
    words = {"task": "gathering", "rules": Rules(), "rosters": rosters, "curriculum": Curriculum((stage,))}
    run = pc3d.train(replace(spread, **words), mkdtemp())
    for size, returns in pc3d.evaluate(run.path, settings=EvaluationSettings(rollouts=32)).items():
        print(f"{size} agents ({rosters.split_of(size)}): {returns.mean():.2f} on average")
    print("one agent:", pc3d.load(run.path).agent().act([0.5, 0.5, -0.5, -0.5]))
