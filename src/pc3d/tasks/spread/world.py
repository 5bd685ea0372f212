"""Simple Spread: n agents cover n landmarks without touching each other (MPE's simple_spread_v3).

Equal to mpe2 1.1.1 with the paper's interface: shared reward and a fixed-width view of the three nearest
landmarks and teammates. `pc3d parity spread` shows it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.experiment.kinds import Capability
from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.capability_view import able_by_name, scaled
from pc3d.tasks.described import LARGEST_TEAM
from pc3d.tasks.entities import EntityView
from pc3d.tasks.loops import by_blocks
from pc3d.tasks.split import Split
from pc3d.tasks.spread.bodies import (
    abilities,
    able_teammates,
    at_most,
    bodies,
    colliding_pairs,
    contact_forces,
    holding,
    landmark_distance,
    nearest_of_all,
    touched,
)
from pc3d.tasks.spread.entities import spread_entities
from pc3d.tasks.spread.rules import (
    ACTION_FORCE,
    CAPABILITIES,
    HORIZON,
    NEIGHBOURS,
    Collisions,
)
from pc3d.tasks.task import ObservationPart, Outcome, Task, WorldState, padded_rows, scalar, slot_keys

TIME_STEP = 0.1
DAMPING = 0.25
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
    capabilities: ClassVar[tuple[Capability, ...]] = CAPABILITIES
    seen_teammates: ClassVar[int] = NEIGHBOURS

    @property
    def most_agents(self) -> int:
        return LARGEST_TEAM  # nothing ends but the memory

    @property
    def most_visible(self) -> int:
        return 1 + 2 * NEIGHBOURS

    @property
    def split(self) -> Split:
        landmarks_end = 4 + 2 * NEIGHBOURS
        return self.with_abilities(Split.at_end(landmarks_end, NEIGHBOURS, 2, nearest_first=True))

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
            capabilities=self.drawn_capabilities(key, team_size),
        )

    def step(
        self, key: PRNGKeyArray, state: SpreadState, actions: Int[Array, " agent"]
    ) -> tuple[SpreadState, Outcome]:
        del key
        present = self.present(state)
        able = abilities(state)
        strength = able.acceleration if able else ACTION_FORCE
        pushes = strength * jnp.asarray(DIRECTIONS)[actions]
        forces = pushes + contact_forces(bodies(state.positions, present, able))
        if able:
            forces = forces / able.mass
        moved = replace(
            state,
            time=state.time + 1,
            # The position moves with the old velocity, so an action shows one step later.
            positions=state.positions + state.velocities * TIME_STEP,
            velocities=state.velocities * (1 - DAMPING) + forces * TIME_STEP,
        )
        if able:
            moved = replace(moved, velocities=at_most(able.top_speed, moved.velocities))
        agents = bodies(moved.positions, present, able)
        distance = landmark_distance(agents, bodies(moved.landmarks, self.first_slots(state)))
        pairs = colliding_pairs(agents)
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

    def observe(self, state: SpreadState) -> Float[Array, "agent observation"]:
        present = self.present(state)
        agents, landmarks = (
            bodies(state.positions, present),
            bodies(state.landmarks, self.first_slots(state)),
        )
        in_sight = by_blocks(lambda block: nearest_of_all(block, agents, landmarks), agents)
        parts = [state.velocities, state.positions, in_sight]
        if self.cast.seen != "none":
            able = scaled(self.capabilities, state.capabilities)
            parts.append(able)
            if self.cast.seen == "visible":
                parts.append(by_blocks(lambda block: able_teammates(block, agents, able), agents))
        view = jnp.concatenate(parts, axis=-1)
        return jnp.where(present[:, None], view, 0)

    def entities(self, state: SpreadState) -> EntityView:
        agents = bodies(state.positions, self.present(state))
        landmarks = bodies(state.landmarks, self.first_slots(state))
        able = able_by_name(self.capabilities, state.capabilities)
        return spread_entities(agents, landmarks, state.velocities, able, self.cast.seen)

    def global_state(self, state: SpreadState) -> Float[Array, " state"]:
        """Velocity, position, landmark and presence of each slot, up to the largest team."""
        present = self.present(state)[:, None]
        agents = jnp.where(present, jnp.concatenate([state.velocities, state.positions], axis=-1), 0)
        landmarks = jnp.where(self.first_slots(state)[:, None], state.landmarks, 0)
        parts = [agents, landmarks, present.astype(agents.dtype)]
        if self.unlike:
            parts.append(jnp.where(present, scaled(self.capabilities, state.capabilities), 0))
        return padded_rows(jnp.concatenate(parts, axis=-1), self.largest_team).ravel()

    def hindered(
        self, before: SpreadState, actions: Int[Array, " agent"], after: SpreadState
    ) -> Bool[Array, " agent"]:
        del before, actions
        return touched(bodies(after.positions, self.present(after), abilities(after))) > 0

    def contributed(
        self, before: SpreadState, actions: Int[Array, " agent"], after: SpreadState
    ) -> Bool[Array, " agent"]:
        """Who holds a landmark."""
        del actions
        agents = bodies(after.positions, self.present(before))
        return holding(agents, bodies(after.landmarks, self.first_slots(after)))

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
        sizes = [
            None if one.capabilities is None else self.of_team(one, one.capabilities)[0][:, 0]
            for one in states
        ]
        # One for all moments, so that the picture stands still.
        half_side = self.half_side
        reach = max(reach_of(half_side, positions) for positions, *_ in scenes)
        return (
            draw_spread(half_side, *scene, sizes=radii, reach=reach, size=size, show_range=show_range)
            for scene, radii in zip(scenes, sizes, strict=True)
        )


def collision_weight(collisions: Collisions, team_size: int | Int[Array, ""]) -> float | Float[Array, ""]:
    """What a colliding pair costs the team."""
    if collisions == "mean":
        return 2 / team_size
    return 2 if collisions == "sum" else 1


def _uniform_points(key: PRNGKeyArray, slots: int) -> Float[Array, "agent 2"]:
    return jax.vmap(lambda key: jax.random.uniform(key, (2,), minval=-1, maxval=1))(slot_keys(key, slots))
