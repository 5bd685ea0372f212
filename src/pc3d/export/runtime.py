"""An exported policy played by onnxruntime: to measure it, and to show that it is the same policy."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from pc3d.experiment.execution import ALONE, Execution
from pc3d.export.graph import MASK, NOISE
from pc3d.export.messages import LINKS
from pc3d.networks.squashing import normal_numbers
from pc3d.play.team import Decision, View
from pc3d.system.errors import MissingExtra
from pc3d.tasks.arrays import AnyArray

try:
    import onnxruntime
except ImportError as error:
    raise MissingExtra("onnxruntime", "export") from error


Memory = Float[np.ndarray, "batch h"]
# The graph's outputs, and what they are called here.
OUTPUTS = {
    "action_probabilities": "probabilities",
    "action": "action",
    "next_memory": "memory",
    "student_context": "context",
    "gate": "gate",
}


@dataclass(frozen=True)
class OnnxStep:
    """What the graph says at one moment; None for what a method or a task does not have."""

    memory: Memory
    probabilities: Float[np.ndarray, "batch action"] | None = None
    action: Float[np.ndarray, "batch number"] | None = None
    context: Float[np.ndarray, "batch context"] | None = None
    gate: Float[np.ndarray, "batch 1"] | None = None


class OnnxActor:
    """The graph in a session of one thread: more are slower for networks of this size."""

    def __init__(self, model: bytes) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        shapes = {value.name: value.shape for value in self._session.get_inputs()}
        rows, self._memory_width = shapes["memory"]
        self._row_by_row = rows == 1  # an int8 graph
        self._outputs = [OUTPUTS[value.name] for value in self._session.get_outputs()]
        self._talks = LINKS in shapes
        self._mask_width, self._noise_width = (
            shapes[name][1] if name in shapes else 0 for name in (MASK, NOISE)
        )

    def first_memory(self, rows: int) -> Memory:
        return np.zeros((rows, self._memory_width), np.float32)

    def step(
        self,
        observation: Float[np.ndarray, "batch observation"],
        memory: Memory,
        *,
        allowed: Bool[np.ndarray, "batch action"] | None = None,
        noise: Float[np.ndarray, "batch number"] | None = None,
        links: Bool[np.ndarray, "batch batch"] | None = None,
    ) -> OnnxStep:
        """Where nothing is said of them, all actions are allowed, noise is 0, and nobody hears others."""
        given, rows = {"observation": observation, "memory": memory}, len(memory)
        if self._mask_width:
            given[MASK] = np.ones((rows, self._mask_width), bool) if allowed is None else allowed
        if self._noise_width:
            given[NOISE] = np.zeros((rows, self._noise_width), np.float32) if noise is None else noise
        if self._talks:
            given[LINKS] = np.eye(rows, dtype=bool) if links is None else links
        if not self._row_by_row:
            return self._named(self._session.run(None, given))
        alone = [
            self._session.run(None, {name: values[row : row + 1] for name, values in given.items()})
            for row in range(rows)
        ]
        return self._named([np.concatenate(values) for values in zip(*alone, strict=True)])

    def _named(self, outputs: list[np.ndarray]) -> OnnxStep:
        return OnnxStep(**dict(zip(self._outputs, outputs, strict=True)))


class OnnxTeam:
    """The exported policy in every slot, asked moment by moment."""

    execution: ClassVar[Execution] = ALONE

    def __init__(self, actor: OnnxActor) -> None:
        self._actor = actor

    def first(self, episodes: int, slots: int) -> Memory:
        return self._actor.first_memory(episodes * slots)

    def step(
        self, memory: Memory, view: View, chances: Float[AnyArray, "episode agent *number"]
    ) -> tuple[Memory, Decision]:
        if view.joined is not None:
            memory = np.where(np.reshape(view.joined, (-1, 1)), 0, memory)
        observations = np.asarray(view.observations, np.float32)
        rows, drawn = observations.reshape(-1, observations.shape[-1]), np.asarray(chances)
        if drawn.ndim > view.present.ndim:
            noise = np.asarray(normal_numbers(jnp.asarray(drawn.reshape(len(rows), -1))))
            step = self._actor.step(rows, memory, noise=noise)
            actions = step.action
        else:
            masks = None if view.allowed is None else np.asarray(view.allowed).reshape(len(rows), -1)
            step = self._actor.step(rows, memory, allowed=masks)
            assert step.probabilities is not None
            actions = choose(step.probabilities, drawn.ravel())
        assert actions is not None
        return step.memory, Decision(jnp.asarray(actions.reshape(drawn.shape)))


def choose(
    probabilities: Float[np.ndarray, "batch action"], chances: Float[np.ndarray, " batch"]
) -> np.ndarray:
    """The action each draw stands for, as `choosing.choose` has it."""
    passed = chances[:, None] >= np.cumsum(probabilities, axis=-1)
    last = probabilities.shape[-1] - 1 - (probabilities[:, ::-1] > 0).argmax(axis=-1)
    return np.minimum(passed.sum(axis=-1), last)
