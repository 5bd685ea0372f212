"""An original environment as a world on the host: the port's starts and draws, the package's own rules."""

import json
from dataclasses import asdict
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Num, PRNGKeyArray, UInt8

from pc3d.experiment.world import Rules
from pc3d.play.hosted.world import ContractBroken, HostStep, Key, Views
from pc3d.system.plain import from_plain, parse
from pc3d.tasks.make import original_world
from pc3d.tasks.registry import entry_of
from pc3d.tasks.task import AnyTask, WorldState


class OriginalOnHost:
    """With the same keys, the same actions lead through the same episode as in the port."""

    def __init__(self, task_name: str, rules: Rules, team_size: int) -> None:
        self.port = entry_of(task_name).make(team_size, rules)
        self.world = original_world(self.port)
        self.slots = team_size

    def begin(self, key: Key) -> Views:
        self.world.load(jax.device_get(_start(self.port, _wrapped(key))))
        return self._views()

    def step(self, key: Key, actions: Num[np.ndarray, " agent"]) -> HostStep:
        self.world.follow(_wrapped(key))
        outcome = self.world.step(actions)
        return HostStep(
            self._views(),
            np.ones(self.slots, bool),
            float(outcome.reward),
            bool(outcome.terminated),
            bool(outcome.truncated),
            tuple(float(outcome.measures[name]) for name in self.port.measure_names),
        )

    def picture(self) -> UInt8[np.ndarray, "row column 3"]:
        return self.port.draw(self.world.read())

    def _views(self) -> Views:
        views, expected = self.world.observe(), (self.port.slots, self.port.observation_width)
        if views.shape != expected:
            raise ContractBroken(f"the original shows views of shape {views.shape}, not {expected}")
        return views


def rules_as_words(rules: Rules) -> tuple[str, ...]:
    """How a worker is told them."""
    return (json.dumps(asdict(rules)),)


def rules_from_words(task_name: str, text: str) -> Rules:
    return from_plain(entry_of(task_name).rules, parse(text, "rules"), "rules")


def _wrapped(key: Key) -> PRNGKeyArray:
    return jax.random.wrap_key_data(jnp.asarray(key))


@partial(jax.jit, static_argnums=0)
def _start(port: AnyTask, key: PRNGKeyArray) -> WorldState:
    return port.reset(key, port.slots)
