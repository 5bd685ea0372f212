"""What parity compares for Simple Spread: contacts and speeds that random play hardly brings."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pc3d.tasks.parity.case import Opponent, ParityCase, by_name, capabilities_by_chance
from pc3d.tasks.spread.bodies import abilities
from pc3d.tasks.spread.original import OriginalSpread
from pc3d.tasks.spread.rules import CONTACT_DISTANCE
from pc3d.tasks.spread.world import Spread, SpreadState
from pc3d.tasks.task import AnyTask

ROUNDING_ERRORS = 10  # how many of them may separate two computations of one distance


def crowd(generator: np.random.Generator, task: Spread) -> SpreadState:
    """Everyone deep inside several others."""
    rows, columns = np.divmod(np.arange(task.slots), 4)
    grid = 0.12 * np.stack([columns, rows], axis=1)
    return _state(generator, task, grid + generator.uniform(-0.03, 0.03, (task.slots, 2)), speed=0.2)


def barely_touching(generator: np.random.Generator, task: Spread) -> SpreadState:
    """A crooked chain whose neighbours stand within a contact margin or two of touching."""
    beyond = generator.uniform(1e-6, 2e-3, task.slots) * generator.choice([-1, 1], task.slots)
    angles = generator.uniform(-0.5, 0.5, task.slots)
    state = _state(generator, task, np.zeros((task.slots, 2)), speed=0.0)
    distance = _to_the_one_before(state)
    links = (distance + beyond)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return replace(state, positions=np.cumsum(links, axis=0) - 1.5)


def fast(generator: np.random.Generator, task: Spread) -> SpreadState:
    """Everyone at up to the highest speed that actions alone can reach."""
    return _state(generator, task, _points(generator, task), speed=2.0)


def on_landmarks(generator: np.random.Generator, task: Spread) -> SpreadState:
    """The task solved, or nearly."""
    state = _state(generator, task, _points(generator, task), speed=0.0)
    landmarks = state.positions + generator.normal(0, 0.01, (task.slots, 2))
    return replace(state, landmarks=generator.permutation(landmarks))


def away_from_ties(task: AnyTask, state: SpreadState, actions: Int[Array, " agent"]) -> Bool[Array, ""]:
    """Whether the precision in use can tell who touches and who is nearer, before and after the step."""
    moved, _ = task.step(jax.random.key(0), state, actions)  # nothing in it is random
    return _is_clear(state) & _is_clear(moved)


def _is_clear(state: SpreadState) -> Bool[Array, ""]:
    margin = ROUNDING_ERRORS * jnp.finfo(state.positions.dtype).eps
    to_landmarks = _lengths(state.positions[:, None] - state.landmarks[None])
    to_agents = _lengths(state.positions[:, None] - state.positions[None])
    # The distance of zero to oneself comes first in each row: teammates are told apart from it, too.
    return (
        jnp.all(jnp.diff(jnp.sort(to_landmarks, axis=1), axis=1) > margin)
        & jnp.all(jnp.diff(jnp.sort(to_agents, axis=1), axis=1) > margin)
        & jnp.all(jnp.abs(to_agents - _touching(state)) > margin)
    )


def _touching(state: SpreadState) -> float | Float[Array, "agent agent"]:
    """From how far any two agents touch."""
    able = abilities(state)
    return able.size + able.size.T if able else CONTACT_DISTANCE


def _to_the_one_before(state: SpreadState) -> float | Float[np.ndarray, " agent"]:
    """From how far each agent touches the one in the slot before."""
    able = abilities(state)
    return np.asarray(able.size + jnp.roll(able.size, 1))[:, 0] if able else CONTACT_DISTANCE


def _lengths(offsets: Float[Array, "agent target 2"]) -> Float[Array, "agent target"]:
    return jnp.sqrt(jnp.sum(offsets**2, axis=-1))


def _points(generator: np.random.Generator, task: Spread) -> Float[np.ndarray, "agent 2"]:
    return generator.uniform(-task.half_side, task.half_side, (task.slots, 2))


def _state(
    generator: np.random.Generator, task: Spread, positions: Float[np.ndarray, "agent 2"], speed: float
) -> SpreadState:
    return SpreadState(
        team_size=np.int32(task.slots),
        time=np.int32(0),
        positions=positions,
        velocities=generator.uniform(-speed, speed, (task.slots, 2)),
        landmarks=_points(generator, task),
        capabilities=capabilities_by_chance(generator, task),
    )


CASE = ParityCase(
    task=Spread(),
    opponents=(Opponent("mpe2 1.1.1", OriginalSpread, compared=away_from_ties),),
    scenarios=by_name(crowd, barely_touching, fast, on_landmarks),
    tolerance=(1e-9, 1e-5),
)
