"""Simple Spread: n agents cover n landmarks without touching each other (MPE's simple_spread_v3).

Equal to mpe2 1.1.1 with the paper's interface: shared reward and a fixed-width view of the three nearest
landmarks and teammates. `pc3d parity spread` shows it.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.tasks.task import ObservationPart, Outcome, Task, WorldState, scalar, slot_keys

TIME_STEP = 0.1
DAMPING = 0.25
ACTION_FORCE = 5.0
CONTACT_FORCE = 100.0
CONTACT_MARGIN = 1e-3
CONTACT_DISTANCE = 0.3  # two radii of 0.15
NEIGHBOURS = 3
DIRECTIONS = np.array([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]])

Collisions = Literal["pairs", "sum", "mean"]
COLLISION_TEXT = {
    "pairs": "minus the number of colliding pairs",
    "sum": "minus the number of collisions summed over agents (each pair counts twice)",
    "mean": "minus the mean number of collisions per agent",
}


class SpreadState(WorldState):
    positions: Float[Array, "agent 2"]
    velocities: Float[Array, "agent 2"]
    landmarks: Float[Array, "agent 2"]


@dataclass(frozen=True)
class Spread(Task[SpreadState]):
    """How collisions count is a setting, because the paper does not say; both measures are kept apart."""

    slots: int = 10
    collisions: Collisions = "pairs"

    name: ClassVar[str] = "spread"
    horizon: ClassVar[int] = 25
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

    @property
    def return_definition(self) -> str:
        return (
            "sum over 25 steps of: minus the distances from each landmark to its closest agent, "
            + COLLISION_TEXT[self.collisions]
        )

    def reset(self, key: PRNGKeyArray, team_size: int | Int[Array, ""]) -> SpreadState:
        agents, landmarks = jax.random.split(key)
        return SpreadState(
            team_size=scalar(team_size),
            time=scalar(0),
            positions=_uniform_points(agents, self.slots),
            velocities=jnp.zeros((self.slots, 2)),
            landmarks=_uniform_points(landmarks, self.slots),
        )

    def step(
        self, key: PRNGKeyArray, state: SpreadState, actions: Int[Array, " agent"]
    ) -> tuple[SpreadState, Outcome]:
        del key
        active = self.active(state)
        forces = ACTION_FORCE * jnp.asarray(DIRECTIONS)[actions] + _contact_forces(state.positions, active)
        moved = SpreadState(
            team_size=state.team_size,
            time=state.time + 1,
            # The position moves with the old velocity, so an action shows one step later.
            positions=state.positions + state.velocities * TIME_STEP,
            velocities=state.velocities * (1 - DAMPING) + forces * TIME_STEP,
            landmarks=state.landmarks,
        )
        distance = _landmark_distance(moved, active)
        pairs = _colliding_pairs(moved.positions, active)
        return moved, Outcome(
            reward=-distance - self._collision_weight(state.team_size) * pairs,
            terminated=jnp.asarray(False),
            truncated=moved.time >= self.horizon,
            measures={"landmark_distance": distance, "colliding_pairs": pairs},
        )

    def observe(self, state: SpreadState) -> Float[Array, "agent 16"]:
        active = self.active(state)
        others = active & ~jnp.eye(self.slots, dtype=bool)
        everyone = jnp.broadcast_to(active, others.shape)
        view = jnp.concatenate(
            [
                state.velocities,
                state.positions,
                _nearest(state.positions, state.landmarks, everyone),
                _nearest(state.positions, state.positions, others),
            ],
            axis=-1,
        )
        return jnp.where(active[:, None], view, 0)

    def global_state(self, state: SpreadState) -> Float[Array, " state"]:
        """Velocity, position, landmark and presence of each slot, up to the largest team."""
        active = self.active(state)[:, None]
        rows = jnp.concatenate([state.velocities, state.positions, state.landmarks], axis=-1)
        rows = jnp.concatenate([jnp.where(active, rows, 0), active.astype(rows.dtype)], axis=-1)
        return jnp.pad(rows, ((0, self.largest_team - self.slots), (0, 0))).ravel()

    def draw(self, state: SpreadState, *, size: int = 480, show_range: bool = False) -> np.ndarray:
        from pc3d.tasks.pictures.spread import draw_spread

        return draw_spread(self, state, size, show_range)

    def _collision_weight(self, team_size: Int[Array, ""]) -> float | Float[Array, ""]:
        if self.collisions == "mean":
            return 2 / team_size
        return 2 if self.collisions == "sum" else 1


def _uniform_points(key: PRNGKeyArray, slots: int) -> Float[Array, "agent 2"]:
    return jax.vmap(lambda key: jax.random.uniform(key, (2,), minval=-1, maxval=1))(slot_keys(key, slots))


def _distances(
    origins: Float[Array, "agent 2"], targets: Float[Array, "agent 2"], real: Bool[Array, "agent agent"]
) -> tuple[Float[Array, "agent agent 2"], Float[Array, "agent agent"]]:
    """Offsets from each origin to each target and their lengths: zero and infinite where not real."""
    offsets = jnp.where(real[..., None], targets[None] - origins[:, None], 0)
    squares = jnp.sum(offsets**2, axis=-1)
    return offsets, jnp.where(real, jnp.sqrt(squares), jnp.inf)


def _pairs(active: Bool[Array, " agent"]) -> Bool[Array, "agent agent"]:
    return active[:, None] & active[None, :] & ~jnp.eye(active.size, dtype=bool)


def _contact_forces(
    positions: Float[Array, "agent 2"], active: Bool[Array, " agent"]
) -> Float[Array, "agent 2"]:
    real = _pairs(active)
    offsets, distances = _distances(positions, positions, real)
    distances = jnp.where(real, distances, 1)
    penetration = jnp.logaddexp(0, -(distances - CONTACT_DISTANCE) / CONTACT_MARGIN) * CONTACT_MARGIN
    push = jnp.where(real, CONTACT_FORCE * penetration / distances, 0)
    return -jnp.sum(offsets * push[..., None], axis=1)


def _landmark_distance(state: SpreadState, active: Bool[Array, " agent"]) -> Float[Array, ""]:
    _, distances = _distances(state.positions, state.landmarks, active[:, None] & active[None, :])
    return jnp.sum(jnp.min(distances, axis=0), where=active)


def _colliding_pairs(positions: Float[Array, "agent 2"], active: Bool[Array, " agent"]) -> Float[Array, ""]:
    _, distances = _distances(positions, positions, _pairs(active))
    return jnp.sum(distances < CONTACT_DISTANCE).astype(distances.dtype) / 2


def _nearest(
    origins: Float[Array, "agent 2"], targets: Float[Array, "agent 2"], real: Bool[Array, "agent agent"]
) -> Float[Array, "agent 6"]:
    """Offsets to the nearest targets, nearest first, zero where there are fewer.

    The rank of a target is how many are nearer: on a CPU that is several times faster than a sort.
    """
    offsets, distances = _distances(origins, targets, real)
    index = jnp.arange(origins.shape[0])
    nearer = distances[:, None, :] < distances[:, :, None]
    tied = (distances[:, None, :] == distances[:, :, None]) & (index[None, None, :] < index[None, :, None])
    ranks = jnp.sum(nearer | tied, axis=-1)
    chosen = (ranks[:, None, :] == jnp.arange(NEIGHBOURS)[None, :, None]) & real[:, None, :]
    return jnp.sum(jnp.where(chosen[..., None], offsets[:, None], 0), axis=2).reshape(origins.shape[0], -1)
