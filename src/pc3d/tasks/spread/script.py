"""Simple Spread by script: the best assignment of agents to landmarks, driven with a short look ahead."""

from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from pc3d.tasks.spread.rules import ACTION_FORCE, CONTACT_DISTANCE, RADIUS
from pc3d.tasks.spread.world import DAMPING, DIRECTIONS, TIME_STEP, Spread, SpreadState

LOOK_AHEAD = 3  # actions an agent thinks through; each shows one step later
MARGIN = 0.015  # how close two agents may plan to come
APART = CONTACT_DISTANCE + MARGIN
COLLISION_COST = 1.0  # as in the team's reward
SEPARATION_ROUNDS = 60
USUAL_PACE = ACTION_FORCE / DAMPING * TIME_STEP
PLANS = np.array(list(product(range(len(DIRECTIONS)), repeat=LOOK_AHEAD)))  # all sequences of actions

Points = Float[np.ndarray, "agent 2"]
Path = Float[np.ndarray, "step 2"]


def cover(task: Spread, state: SpreadState) -> Int[np.ndarray, " agent"]:
    """Everyone drives to its own landmark, out of the way of those that have planned before.

    Where landmarks are fewer, somebody is left over and stays out of the way.
    """
    positions, velocities = (
        part.astype(float) for part in task.of_team(state, state.positions, state.velocities)
    )
    able = _able(task, state, len(positions))
    places = _standing_room(task.of_world(state, state.landmarks).astype(float))
    ways = np.linalg.norm(positions[:, None] - places[None], axis=-1)
    drivers, chosen = linear_sum_assignment(ways / able.pace[:, None])
    targets = positions.copy()
    targets[drivers] = places[chosen]
    # Until an agent has planned, the others expect it to roll on.
    paths = _roll_out(positions, velocities, able, np.zeros((1, LOOK_AHEAD), int))[:, 0]
    actions = np.zeros(len(positions), int)
    for agent in np.argsort(np.linalg.norm(positions - targets, axis=-1)):
        others = np.delete(paths, agent, axis=0)
        apart = able.size[agent] + np.delete(able.size, agent) + MARGIN
        alone = _Able(*(part[agent : agent + 1] for part in able))
        actions[agent], paths[agent] = _drive(
            positions[agent], velocities[agent], alone, targets[agent], others, apart
        )
    return actions


class _Able(NamedTuple):
    """What each of those who are there is able to do."""

    size: Float[np.ndarray, " agent"]
    strength: Float[np.ndarray, " agent"]  # the change of its speed by an action, a second
    top_speed: Float[np.ndarray, " agent"]

    @property
    def pace(self) -> Float[np.ndarray, " agent"]:
        """The speed of a long way, as a share of a usual agent's."""
        return np.minimum(self.strength / DAMPING * TIME_STEP, self.top_speed) / USUAL_PACE


def _able(task: Spread, state: SpreadState, agents: int) -> _Able:
    if state.capabilities is None:
        return _Able(np.full(agents, RADIUS), np.full(agents, ACTION_FORCE), np.full(agents, np.inf))
    size, force, top_speed, mass = task.of_team(state, state.capabilities)[0].astype(float).T
    return _Able(size, force / mass, top_speed)


def _standing_room(landmarks: Points) -> Points:
    """The landmarks, pushed apart where agents on them would touch."""
    places = landmarks.copy()
    for _ in range(SEPARATION_ROUNDS):
        offsets = places[:, None] - places[None]
        lengths = np.linalg.norm(offsets, axis=-1) + np.eye(len(places)) * 2 * APART
        missing = np.maximum(APART - lengths, 0)
        if missing.max() < 1e-3:
            break
        places += (offsets / lengths[..., None] * missing[..., None] / 2).sum(axis=1)
    return places


def _drive(
    position: Float[np.ndarray, "2"],
    velocity: Float[np.ndarray, "2"],
    able: _Able,
    target: Float[np.ndarray, "2"],
    others: Float[np.ndarray, "other step 2"],
    apart: Float[np.ndarray, " other"],
) -> tuple[int, Path]:
    """The first action of the best plan, and the path it leads along."""
    paths = _roll_out(position[None], velocity[None], able, PLANS)[0]
    costs = np.linalg.norm(paths - target, axis=-1).sum(axis=-1)
    furthest = np.linalg.norm(paths - position, axis=-1).max() + apart
    near = np.linalg.norm(others - position, axis=-1).min(axis=-1) <= furthest
    gaps = np.linalg.norm(paths[:, None] - others[near][None], axis=-1)
    costs += COLLISION_COST * (gaps < apart[near][:, None]).sum(axis=(1, 2))
    best = int(np.argmin(costs))
    return int(PLANS[best, 0]), paths[best]


def _roll_out(
    positions: Points, velocities: Points, able: _Able, plans: Int[np.ndarray, "plan step"]
) -> Float[np.ndarray, "agent plan step 2"]:
    """Where each plan leads if nobody is in the way, from the first step that the plan can change."""
    pushes = able.strength[:, None, None, None] * DIRECTIONS[plans]
    place = np.broadcast_to(positions[:, None], (len(positions), len(plans), 2))
    speed = np.broadcast_to(velocities[:, None], place.shape)
    path = []
    for step in range(plans.shape[1]):
        place = place + speed * TIME_STEP
        speed = _at_most(able.top_speed, speed * (1 - DAMPING) + pushes[:, :, step] * TIME_STEP)
        path.append(place + speed * TIME_STEP)
    return np.stack(path, axis=2)


def _at_most(
    top: Float[np.ndarray, " agent"], speeds: Float[np.ndarray, "agent plan 2"]
) -> Float[np.ndarray, "agent plan 2"]:
    """No faster than each may be."""
    if np.isinf(top).all():
        return speeds
    lengths = np.linalg.norm(speeds, axis=-1, keepdims=True)
    return speeds * np.minimum(1, top[:, None, None] / np.maximum(lengths, 1e-12))
