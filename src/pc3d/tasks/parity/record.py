"""Plays an original environment with random actions and writes down every step for the port to repeat."""

from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float, Int, UInt32

from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.original_world import OriginalWorld
from pc3d.tasks.parity.case import Opponent, ParityCase, State
from pc3d.tasks.task import Outcome

PORT_RESET, ORIGINAL_RESET = "the port's reset", "the original's reset"


class Step(eqx.Module):
    """One step of the original, with what was seen before and after it, and where it comes from."""

    state: State
    view: Float[AnyArray, "agent observation"]
    actions: Int[AnyArray, " agent"]
    key: UInt32[AnyArray, "2"]  # of what the port draws in this step, and the original after it
    outcome: Outcome
    next_state: State
    next_view: Float[AnyArray, "agent observation"]
    episode: Int[AnyArray, ""]


def recorded_steps(
    case: ParityCase,
    opponent: Opponent,
    team_size: int,
    episodes: int,
    seed: int,
    after_episode: Callable[[], None],
) -> Iterator[Step]:
    """All steps of all episodes, one after the other; the kinds of start take turns."""
    port = case.task.with_slots(team_size)
    world, reset_port = opponent.make(port), jax.jit(port.reset)
    for episode in range(episodes):
        generator = np.random.default_rng([seed, team_size, episode])
        start = start_name(case, episode)
        probabilities = case.action_probabilities if start in case.scenarios else None
        if start == ORIGINAL_RESET:
            world.reset(int(generator.integers(2**31)))
        elif start == PORT_RESET:
            key = jax.random.key(int(generator.integers(2**31)))
            world.load(jax.tree.map(np.asarray, reset_port(key, team_size)))
        else:
            world.load(case.scenarios[start](generator, port))
        yield from _played(world, generator, episode, probabilities)
        after_episode()
    world.close()


def start_name(case: ParityCase, episode: int) -> str:
    """How this episode begins: by either reset, or as one of the case's scenarios."""
    names = (PORT_RESET, ORIGINAL_RESET, *case.scenarios)
    return names[episode % len(names)]


def _played(
    world: OriginalWorld[Any],
    generator: np.random.Generator,
    episode: int,
    probabilities: tuple[float, ...] | None,
) -> Iterator[Step]:
    """The original's steps under random actions, until the episode ends."""
    ended, action_count = False, world.task.action_count
    while not ended:
        _round_state(world)
        state, view = world.read(), world.observe()
        actions = generator.choice(action_count, world.team_size, p=probabilities).astype(np.int32)
        key, number = generator.integers(2**32, size=2, dtype=np.uint32), np.asarray(episode, np.int32)
        world.follow(jax.random.wrap_key_data(key))
        outcome = world.step(actions)
        yield Step(state, view, actions, key, outcome, world.read(), world.observe(), number)
        ended = bool(outcome.terminated | outcome.truncated)


def _round_state(world: OriginalWorld[Any]) -> None:
    """Move the original to the nearest state that float32 can hold: both precisions then start from it."""
    state = world.read()
    rounded = jax.tree.map(_rounded, state)
    if not all(map(np.array_equal, jax.tree.leaves(state), jax.tree.leaves(rounded))):
        world.load(rounded)


def _rounded(values: AnyArray) -> AnyArray:
    return values.astype(np.float32).astype(np.float64) if values.dtype == np.float64 else values
