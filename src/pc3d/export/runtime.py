"""An exported policy played by onnxruntime: to measure it, and to show that it is the same policy."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pc3d.experiment.execution import ALONE, Execution
from pc3d.play.team import Decision, View
from pc3d.system.errors import MissingExtra
from pc3d.tasks.arrays import AnyArray

try:
    import onnxruntime
except ImportError as error:
    raise MissingExtra("onnxruntime", "export") from error


Memory = Float[np.ndarray, "batch h"]


@dataclass(frozen=True)
class OnnxStep:
    """What the graph says at one moment; context and gate are None where a method has none."""

    probabilities: Float[np.ndarray, "batch action"]
    memory: Memory
    context: Float[np.ndarray, "batch context"] | None = None
    gate: Float[np.ndarray, "batch 1"] | None = None


class OnnxActor:
    """The graph in a session of one thread: more are slower for networks of this size."""

    def __init__(self, model: bytes) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        rows, self._memory_width = self._session.get_inputs()[1].shape
        self._row_by_row = rows == 1  # an int8 graph

    def first_memory(self, rows: int) -> Memory:
        return np.zeros((rows, self._memory_width), np.float32)

    def step(self, observation: Float[np.ndarray, "batch observation"], memory: Memory) -> OnnxStep:
        if not self._row_by_row:
            return OnnxStep(*self._run(observation, memory))
        rows = [self._run(observation[row : row + 1], memory[row : row + 1]) for row in range(len(memory))]
        return OnnxStep(*(np.concatenate(values) for values in zip(*rows, strict=True)))

    def _run(self, observation: np.ndarray, memory: np.ndarray) -> list[np.ndarray]:
        return self._session.run(None, {"observation": observation, "memory": memory})


class OnnxTeam:
    """The exported policy in every slot, asked moment by moment."""

    execution: ClassVar[Execution] = ALONE

    def __init__(self, actor: OnnxActor) -> None:
        self._actor = actor

    def first(self, episodes: int, slots: int) -> Memory:
        return self._actor.first_memory(episodes * slots)

    def step(
        self, memory: Memory, view: View, chances: Float[AnyArray, "episode agent"]
    ) -> tuple[Memory, Decision]:
        if view.joined is not None:
            memory = np.where(np.reshape(view.joined, (-1, 1)), 0, memory)
        observations = np.asarray(view.observations, np.float32)
        step = self._actor.step(observations.reshape(-1, observations.shape[-1]), memory)
        actions = choose(step.probabilities, np.asarray(chances).ravel())
        return step.memory, Decision(jnp.asarray(actions.reshape(chances.shape)))


def choose(
    probabilities: Float[np.ndarray, "batch action"], chances: Float[np.ndarray, " batch"]
) -> np.ndarray:
    """The action each draw stands for, as `choosing.choose` has it."""
    passed = chances[:, None] >= np.cumsum(probabilities, axis=-1)
    return np.minimum(passed.sum(axis=-1), probabilities.shape[-1] - 1)
