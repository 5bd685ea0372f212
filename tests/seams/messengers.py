"""A team that sends messages: everybody tells the others a number, and acts on what it heard a moment ago."""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp

from pc3d.experiment.execution import Execution
from pc3d.play.team import Decision, View


class Messengers(eqx.Module):
    """The memory is what is on its way to everybody."""

    execution: ClassVar[Execution] = Execution(messages=True)
    action_count: int = eqx.field(static=True)

    def first(self, episodes, slots):
        return {"heard": jnp.zeros((episodes, slots))}

    def step(self, memory, view: View, chances):
        said = jnp.where(view.present, jnp.mean(view.observations, axis=-1), 0)
        everything = jnp.sum(said, axis=-1, keepdims=True)
        others = jnp.maximum(jnp.sum(view.present, axis=-1, keepdims=True) - 1, 1)
        wish = (chances + jnp.abs(memory["heard"])) * self.action_count
        actions = jnp.floor(wish).astype(jnp.int32) % self.action_count
        return {"heard": (everything - said) / others}, Decision(actions)
