"""How long one agent thinks: exported policies in onnxruntime, next to the package's own actor."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import jax
import numpy as np

from pc3d.export.graph import onnx_model
from pc3d.export.plain_actor import plain_actor
from pc3d.export.runtime import OnnxActor
from pc3d.networks.actor import Actor
from pc3d.networks.build import build
from pc3d.presets import paper as experiments
from pc3d.tasks.make import make_task


@dataclass(frozen=True)
class StepTime:
    """Microseconds that one agent takes for one step, and the size of its file."""

    task_name: str
    method: str
    in_package: float  # compiled by JAX
    float32: float
    float32_bytes: int
    int8: float
    int8_bytes: int


def measure_step(task_name: str, method: str, repeats: int, seconds: float) -> StepTime:
    """Measure a fresh policy of the paper's size: how long it takes does not depend on its training."""
    experiment = experiments.paper(task_name, method)
    actor = build(jax.random.key(0), experiment, make_task(experiment)).actor
    plain = plain_actor(actor)
    observation = np.random.default_rng(0).normal(size=(1, plain.observation_width)).astype(np.float32)
    float32, int8 = onnx_model(plain, {}), onnx_model(plain, {}, int8=True)
    return StepTime(
        task_name=task_name,
        method=method,
        in_package=_microseconds(_jax_step(actor, observation), repeats, seconds),
        float32=_microseconds(_onnx_step(float32, observation), repeats, seconds),
        float32_bytes=len(float32),
        int8=_microseconds(_onnx_step(int8, observation), repeats, seconds),
        int8_bytes=len(int8),
    )


def _jax_step(actor: Actor, observation: np.ndarray) -> Callable[[], Any]:
    step, memory = jax.jit(Actor.step), actor.first_memory(1)
    return lambda: jax.block_until_ready(step(actor, memory, observation))


def _onnx_step(model: bytes, observation: np.ndarray) -> Callable[[], Any]:
    actor = OnnxActor(model)
    memory = actor.first_memory(1)
    return lambda: actor.step(observation, memory)


def _microseconds(step: Callable[[], Any], repeats: int, seconds: float) -> float:
    """The median over all single steps of some repeats of at least so many seconds, after one to warm up."""
    step()
    times, start = [], time.perf_counter()
    while time.perf_counter() - start < repeats * seconds:
        before = time.perf_counter()
        step()
        times.append(time.perf_counter() - before)
    return 1e6 * median(times)
