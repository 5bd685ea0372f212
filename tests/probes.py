"""Tiny tasks whose best play is known, to see whether learning learns."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp

from pc3d.experiment.action_space import Box
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import METHODS
from pc3d.experiment.network_settings import ActorSettings, CriticSettings, DistillationSettings
from pc3d.experiment.ppo_settings import PpoSettings
from pc3d.experiment.recipe import Recipe
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.tasks.split import Split
from pc3d.tasks.task import ObservationPart, Outcome, Task, WorldState, scalar


class ProbeState(WorldState):
    cues: jax.Array  # one bit per slot, drawn at the start


@dataclass(frozen=True)
class Probe(Task[ProbeState]):
    """Two actions, five steps, a real end. Subclasses say what is seen and what is good."""

    slots: int = 3
    name: ClassVar[str] = "probe"
    horizon: ClassVar[int] = 5
    action_names: ClassVar[tuple[str, ...]] = ("zero", "one")
    observation_layout: ClassVar[tuple[ObservationPart, ...]] = (
        ObservationPart("time", 5),
        ObservationPart("cue", 1),
    )
    measure_names: ClassVar[tuple[str, ...]] = ()
    smallest_team: ClassVar[int] = 1
    largest_team: ClassVar[int] = 3
    return_definition = "the probe's own"

    def reset(self, key, team_size):
        keys = jax.vmap(lambda slot: jax.random.fold_in(key, slot))(jnp.arange(self.slots))
        cues = jax.vmap(jax.random.bernoulli)(keys).astype(jnp.int32)
        return ProbeState(scalar(team_size), scalar(0), cues)

    def step(self, key, state, actions):
        del key
        reward = self.reward(state, actions)
        state = ProbeState(state.team_size, state.time + 1, state.cues)
        return state, Outcome(reward, state.time >= self.horizon, jnp.asarray(False), {})

    def observe(self, state):
        clock = jnp.broadcast_to(jax.nn.one_hot(state.time, 5), (self.slots, 5))
        return jnp.concatenate([clock, self.cue(state)[:, None]], axis=-1)

    def global_state(self, state):
        return state.cues.astype(float)

    def draw(self, state, *, size=480, show_range=False):
        raise NotImplementedError

    def cue(self, state):
        return jnp.zeros(self.slots)

    def reward(self, state, actions):
        raise NotImplementedError

    def share(self, state, good):
        """The share of the team for whom it is true."""
        return jnp.mean(good.astype(float), where=self.present(state))


@dataclass(frozen=True)
class ConstantReward(Probe):
    """Nothing matters: every step gives 1. The value is a known sum."""

    def reward(self, state, actions):
        return jnp.ones(())


@dataclass(frozen=True)
class ActionReward(Probe):
    """Action one is good, always: the best return is 5."""

    def reward(self, state, actions):
        return self.share(state, actions == 1)


@dataclass(frozen=True)
class Memory(Probe):
    """A bit shown at the first step must be said at the last: best return 1, without memory 0.5."""

    def cue(self, state):
        return jnp.where(state.time == 0, 2.0 * state.cues - 1, 0.0)

    def reward(self, state, actions):
        return jnp.where(state.time == 4, self.share(state, actions == state.cues), 0.0)


@dataclass(frozen=True)
class TeamSize(Probe):
    """Teammates pass by one at a time; at the end each must say whether it was alone: best return 1."""

    def cue(self, state):
        passes_by = (state.time >= 1) & (state.time < state.team_size)
        return jnp.broadcast_to(passes_by.astype(float), (self.slots,))

    def reward(self, state, actions):
        return jnp.where(state.time == 4, self.share(state, actions == (state.team_size > 1)), 0.0)


@dataclass(frozen=True)
class Aim(Probe):
    """A number should be the one that the cue stands for; best return 0, by chance about -20."""

    action_space = Box(("aim",), (-2.0,), (4.0,))

    def cue(self, state):
        return 2.0 * state.cues - 1

    def reward(self, state, actions):
        return -jnp.mean((actions[:, 0] - self.targets(state)) ** 2, where=self.present(state))

    def targets(self, state):
        return jnp.where(state.cues == 1, 2.0, -1.0)


@dataclass(frozen=True)
class Forbidden(Probe):
    """The best action is allowed to those with a cue alone; who takes it all the same loses everything."""

    action_names: ClassVar[tuple[str, ...]] = ("nothing", "good", "best")
    masks_actions: ClassVar[bool] = True

    def cue(self, state):
        return 2.0 * state.cues - 1

    def available_actions(self, state):
        return jnp.stack([jnp.ones(self.slots, bool), jnp.ones(self.slots, bool), state.cues == 1], axis=-1)

    def reward(self, state, actions):
        paid = jnp.where((actions == 2) & (state.cues == 0), -1000.0, 0.5 * actions)
        return jnp.mean(paid, where=self.present(state))


@dataclass(frozen=True)
class Rumour(Probe):
    """What is seen of teammates says whether action one is good (1) or bad (-4); action zero is safe (0).

    Alone, who ignores it takes the safe action: which is best where looking costs enough.
    """

    @property
    def split(self):
        return Split.at_end(5, 1, 1)

    def cue(self, state):
        return 2.0 * state.cues - 1  # 0 where nobody is seen

    def reward(self, state, actions):
        paid = jnp.where(actions == 1, 5.0 * state.cues - 4.0, 0.0)
        return jnp.mean(paid, where=self.present(state))


def probe_experiment(method: str, updates: int) -> Experiment:
    """With PPO, or what extends it; whatever else a method learns by is for its own tests to set."""
    kind = METHODS[method].algorithm
    ppo = kind if issubclass(kind, PpoSettings) else PpoSettings
    return Experiment(
        task="probe",
        method=method,
        rosters=Rosters(train=(1, 3)),
        curriculum=Curriculum((Stage(1.0, (1, 3), (0.5, 0.5)),)),
        algorithm=ppo(1e-2, 1024, 10_000, 32, 4, 0.2, 0.99, 0.95, 0.001, 0.5, 1.0),
        actor=ActorSettings((16,), 16),
        critic=CriticSettings((16,), 8, (16,), team_size_feature=True, tokens=2),
        distillation=DistillationSettings(0.1, 0.05),
        recipe=Recipe(learning_rate_schedule="constant"),
        episodes=32 * updates,
    )
