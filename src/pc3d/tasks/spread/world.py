"""Simple Spread: n agents cover n landmarks without touching each other (MPE's simple_spread_v3).

Equal to mpe2 1.1.1 with the paper's interface: shared reward and a fixed-width view of the three nearest
landmarks and teammates. `pc3d parity spread` shows it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.described import LARGEST_TEAM
from pc3d.tasks.loops import by_blocks, one_by_one
from pc3d.tasks.spread.rules import CONTACT_DISTANCE, HORIZON, NEIGHBOURS, Collisions
from pc3d.tasks.task import ObservationPart, Outcome, Task, WorldState, padded_rows, scalar, slot_keys

TIME_STEP = 0.1
DAMPING = 0.25
ACTION_FORCE = 5.0
CONTACT_FORCE = 100.0
CONTACT_MARGIN = 1e-3
DIRECTIONS = np.array([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]])

COLLISION_TEXT = {
    "pairs": "minus the number of colliding pairs",
    "sum": "minus the number of collisions summed over agents (each pair counts twice)",
    "mean": "minus the mean number of collisions per agent",
}


class SpreadState(WorldState):
    """As many landmarks are there as agents at the start, whoever leaves and joins later."""

    positions: Float[AnyArray, "agent 2"]
    velocities: Float[AnyArray, "agent 2"]
    landmarks: Float[AnyArray, "agent 2"]


@dataclass(frozen=True)
class Spread(Task[SpreadState]):
    """How collisions count is a setting, because the paper does not say; both measures are kept apart."""

    slots: int = 10
    collisions: Collisions = "pairs"
    horizon: int = HORIZON

    name: ClassVar[str] = "spread"
    action_names: ClassVar[tuple[str, ...]] = ("stay", "left", "right", "down", "up")
    observation_layout: ClassVar[tuple[ObservationPart, ...]] = (
        ObservationPart("own velocity (x, y)", 2),
        ObservationPart("own position (x, y)", 2),
        ObservationPart("three nearest landmarks, relative (x, y), nearest first", 2 * NEIGHBOURS),
        ObservationPart("three nearest teammates, relative (x, y), nearest first", 2 * NEIGHBOURS),
    )
    measure_names: ClassVar[tuple[str, ...]] = ("landmark_distance", "colliding_pairs")
    smallest_team: ClassVar[int] = 1
    largest_team: ClassVar[int] = 10
    reference_team: ClassVar[int] = 8

    @property
    def most_agents(self) -> int:
        return LARGEST_TEAM  # nothing ends but the memory

    @property
    def half_side(self) -> float:
        """Of the square where everything starts."""
        return math.sqrt(self.growth)

    @property
    def return_definition(self) -> str:
        return (
            f"sum over {self.horizon} steps of: minus the distances from each landmark to its closest agent, "
            + COLLISION_TEXT[self.collisions]
        )

    def reset(self, key: PRNGKeyArray, team_size: int | Int[Array, ""]) -> SpreadState:
        agents, landmarks = jax.random.split(key)
        return SpreadState(
            team_size=scalar(team_size),
            time=scalar(0),
            positions=self.half_side * _uniform_points(agents, self.slots),
            velocities=jnp.zeros((self.slots, 2)),
            landmarks=self.half_side * _uniform_points(landmarks, self.slots),
        )

    def step(
        self, key: PRNGKeyArray, state: SpreadState, actions: Int[Array, " agent"]
    ) -> tuple[SpreadState, Outcome]:
        del key
        present = self.present(state)
        forces = ACTION_FORCE * jnp.asarray(DIRECTIONS)[actions] + _contact_forces(state.positions, present)
        moved = replace(
            state,
            time=state.time + 1,
            # The position moves with the old velocity, so an action shows one step later.
            positions=state.positions + state.velocities * TIME_STEP,
            velocities=state.velocities * (1 - DAMPING) + forces * TIME_STEP,
        )
        agents = bodies(moved.positions, present)
        distance = _landmark_distance(agents, bodies(moved.landmarks, self.first_slots(state)))
        pairs = _colliding_pairs(agents)
        return moved, Outcome(
            reward=-distance - collision_weight(self.collisions, state.team_size) * pairs,
            terminated=jnp.asarray(False),
            truncated=moved.time >= self.horizon,
            measures={"landmark_distance": distance, "colliding_pairs": pairs},
        )

    def join(self, key: PRNGKeyArray, state: SpreadState, joining: Bool[Array, " agent"]) -> SpreadState:
        """Anywhere in the square where everything starts, and at rest."""
        places = self.half_side * _uniform_points(key, self.slots)
        return replace(
            state,
            positions=jnp.where(joining[:, None], places, state.positions),
            velocities=jnp.where(joining[:, None], 0, state.velocities),
        )

    def observe(self, state: SpreadState) -> Float[Array, "agent 16"]:
        present = self.present(state)
        agents, landmarks = (
            bodies(state.positions, present),
            bodies(state.landmarks, self.first_slots(state)),
        )
        seen = by_blocks(lambda block: _seen(block, agents, landmarks), agents)
        view = jnp.concatenate([state.velocities, state.positions, seen], axis=-1)
        return jnp.where(present[:, None], view, 0)

    def global_state(self, state: SpreadState) -> Float[Array, " state"]:
        """Velocity, position, landmark and presence of each slot, up to the largest team."""
        present = self.present(state)[:, None]
        agents = jnp.where(present, jnp.concatenate([state.velocities, state.positions], axis=-1), 0)
        landmarks = jnp.where(self.first_slots(state)[:, None], state.landmarks, 0)
        rows = jnp.concatenate([agents, landmarks, present.astype(agents.dtype)], axis=-1)
        return padded_rows(rows, self.largest_team).ravel()

    def hindered(
        self, before: SpreadState, actions: Int[Array, " agent"], after: SpreadState
    ) -> Bool[Array, " agent"]:
        del before, actions
        return _touched(bodies(after.positions, self.present(after))) > 0

    def draw(self, state: SpreadState, *, size: int = 480, show_range: bool = False) -> np.ndarray:
        return next(self.film([state], size=size, show_range=show_range))

    def film(
        self, states: Sequence[SpreadState], *, size: int = 480, show_range: bool = False
    ) -> Iterator[np.ndarray]:
        from pc3d.tasks.spread.picture import draw_spread, reach_of

        scenes = [
            (*self.of_team(one, one.positions, one.velocities), self.of_world(one, one.landmarks))
            for one in states
        ]
        # One for all moments, so that the picture stands still.
        half_side = self.half_side
        reach = max(reach_of(half_side, positions) for positions, *_ in scenes)
        return (
            draw_spread(half_side, *scene, reach=reach, size=size, show_range=show_range) for scene in scenes
        )


def collision_weight(collisions: Collisions, team_size: int | Int[Array, ""]) -> float | Float[Array, ""]:
    """What a colliding pair costs the team."""
    if collisions == "mean":
        return 2 / team_size
    return 2 if collisions == "sum" else 1


def _uniform_points(key: PRNGKeyArray, slots: int) -> Float[Array, "agent 2"]:
    return jax.vmap(lambda key: jax.random.uniform(key, (2,), minval=-1, maxval=1))(slot_keys(key, slots))


class Bodies(NamedTuple):
    """Agents or landmarks."""

    number: Int[Array, " body"]
    places: Float[Array, "body 2"]
    present: Bool[Array, " body"]


def bodies(places: Float[Array, "body 2"], present: Bool[Array, " body"]) -> Bodies:
    return Bodies(jnp.arange(present.size), places, present)


class Offsets(NamedTuple):
    """From each agent to each target, or one; x and y apart: a CPU is slow along an axis of two numbers."""

    x: Float[Array, "*target agent"]
    y: Float[Array, "*target agent"]
    length: Float[Array, "*target agent"]


def _offsets(agents: Bodies, targets: Bodies, *, others: bool = False) -> Offsets:
    """Zero but infinitely long where somebody is absent, or if only others count and it is the agent itself.

    So nothing there is near, touches or pushes.
    """
    real = targets.present[:, None] & agents.present[None, :]
    if others:
        real &= targets.number[:, None] != agents.number[None, :]
    x, y = (
        jnp.where(real, targets.places[:, None, axis] - agents.places[None, :, axis], 0) for axis in (0, 1)
    )
    return Offsets(x, y, jnp.where(real, jnp.sqrt(x**2 + y**2), jnp.inf))


def _contact_forces(
    positions: Float[Array, "agent 2"], present: Bool[Array, " agent"]
) -> Float[Array, "agent 2"]:
    agents = bodies(positions, present)

    def pushed(block: Bodies) -> Float[Array, "agent 2"]:
        to = _offsets(block, agents, others=True)
        penetration = jnp.logaddexp(0, -(to.length - CONTACT_DISTANCE) / CONTACT_MARGIN) * CONTACT_MARGIN
        push = CONTACT_FORCE * penetration / to.length
        return -jnp.stack([jnp.sum(to.x * push, axis=0), jnp.sum(to.y * push, axis=0)], axis=-1)

    return by_blocks(pushed, agents)


def _landmark_distance(agents: Bodies, landmarks: Bodies) -> Float[Array, ""]:
    nearest = by_blocks(lambda block: jnp.min(_offsets(block, agents).length, axis=0), landmarks)
    return jnp.sum(nearest, where=landmarks.present)


def _colliding_pairs(agents: Bodies) -> Float[Array, ""]:
    return jnp.sum(_touched(agents)).astype(agents.places.dtype) / 2


def _touched(agents: Bodies) -> Int[Array, " agent"]:
    """How many others each agent touches."""

    def count(block: Bodies) -> Int[Array, " agent"]:
        return jnp.sum(_offsets(block, agents, others=True).length < CONTACT_DISTANCE, axis=0)

    return by_blocks(count, agents)


def _seen(block: Bodies, agents: Bodies, landmarks: Bodies) -> Float[Array, "agent 12"]:
    to_landmarks, to_teammates = _offsets(block, landmarks), _offsets(block, agents, others=True)
    return jnp.concatenate([_nearest(to_landmarks), _nearest(to_teammates)], axis=-1)


def _nearest(offsets: Offsets) -> Float[Array, "agent 6"]:
    """Offsets to the nearest targets, nearest first, zero where there are fewer.

    Targets are sorted in one by one, for all agents at once: on a CPU several times faster than a sort.
    """
    nowhere = jnp.zeros_like(offsets.x[0])
    nobody = Offsets(nowhere, nowhere, jnp.full_like(nowhere, jnp.inf))
    nearest = one_by_one(_sorted_in, (nobody,) * NEIGHBOURS, offsets)
    return jnp.stack([value for offset in nearest for value in (offset.x, offset.y)], axis=-1)


def _sorted_in(nearest: tuple[Offsets, ...], candidate: Offsets) -> tuple[Offsets, ...]:
    kept = []
    for held in nearest:
        nearer = candidate.length < held.length
        kept.append(_choose(nearer, candidate, held))
        candidate = _choose(nearer, held, candidate)
    return tuple(kept)


def _choose(condition: Bool[Array, " agent"], one: Offsets, other: Offsets) -> Offsets:
    return Offsets(*(jnp.where(condition, *values) for values in zip(one, other, strict=True)))
