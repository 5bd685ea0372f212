"""An exported policy played by onnxruntime: to measure it, and to show that it is the same policy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pc3d.errors import MissingExtra
from pc3d.lockstep import Actions, Worlds

try:
    import onnxruntime
except ImportError as error:
    raise MissingExtra("onnxruntime", "export") from error


@dataclass(frozen=True)
class OnnxStep:
    """What the graph says at one moment; context and gate are None where a method has none."""

    probabilities: Float[np.ndarray, "batch action"]
    memory: Float[np.ndarray, "batch h"]
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

    def first_memory(self, rows: int) -> Float[np.ndarray, "batch h"]:
        return np.zeros((rows, self._memory_width), np.float32)

    def step(
        self, observation: Float[np.ndarray, "batch observation"], memory: Float[np.ndarray, "batch h"]
    ) -> OnnxStep:
        if not self._row_by_row:
            return OnnxStep(*self._run(observation, memory))
        rows = [self._run(observation[row : row + 1], memory[row : row + 1]) for row in range(len(memory))]
        return OnnxStep(*(np.concatenate(values) for values in zip(*rows, strict=True)))

    def _run(self, observation: np.ndarray, memory: np.ndarray) -> list[np.ndarray]:
        outputs: list[np.ndarray] = self._session.run(None, {"observation": observation, "memory": memory})
        return outputs


class OnnxTeam:
    """The exported policy in every slot of worlds that are played in lockstep, with its memories."""

    def __init__(self, actor: OnnxActor) -> None:
        self._actor = actor
        self._memory: Float[np.ndarray, "batch h"] | None = None

    def act(self, worlds: Worlds, chances: Float[np.ndarray, "episode agent"]) -> Actions:
        observations = worlds.observations().astype(np.float32)
        rows = observations.reshape(-1, observations.shape[-1])
        if self._memory is None:
            self._memory = self._actor.first_memory(len(rows))
        step = self._actor.step(rows, self._memory)
        self._memory = step.memory
        return choose(step.probabilities, chances.reshape(-1)).reshape(chances.shape)


def choose(
    probabilities: Float[np.ndarray, "batch action"], chances: Float[np.ndarray, " batch"]
) -> np.ndarray:
    """The action each draw stands for, as `rollout.choose` has it."""
    passed = chances[:, None] >= np.cumsum(probabilities, axis=-1)
    return np.minimum(passed.sum(axis=-1), probabilities.shape[-1] - 1)
