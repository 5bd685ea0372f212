"""Simple Spread by script: the best assignment of agents to landmarks, driven with a short look ahead."""

from itertools import product

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from pc3d.tasks.spread.rules import ACTION_FORCE, CONTACT_DISTANCE
from pc3d.tasks.spread.world import DAMPING, DIRECTIONS, TIME_STEP, Spread, SpreadState

LOOK_AHEAD = 3  # actions an agent thinks through; each shows one step later
APART = CONTACT_DISTANCE + 0.015  # how close two agents may plan to come
COLLISION_COST = 1.0  # as in the team's reward
SEPARATION_ROUNDS = 60
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
    places = _standing_room(task.of_world(state, state.landmarks).astype(float))
    drivers, chosen = linear_sum_assignment(np.linalg.norm(positions[:, None] - places[None], axis=-1))
    targets = positions.copy()
    targets[drivers] = places[chosen]
    # Until an agent has planned, the others expect it to roll on.
    paths = _roll_out(positions, velocities, np.zeros((1, LOOK_AHEAD), int))[:, 0]
    actions = np.zeros(len(positions), int)
    for agent in np.argsort(np.linalg.norm(positions - targets, axis=-1)):
        others = np.delete(paths, agent, axis=0)
        actions[agent], paths[agent] = _drive(positions[agent], velocities[agent], targets[agent], others)
    return actions


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
    target: Float[np.ndarray, "2"],
    others: Float[np.ndarray, "other step 2"],
) -> tuple[int, Path]:
    """The first action of the best plan, and the path it leads along."""
    paths = _roll_out(position[None], velocity[None], PLANS)[0]
    costs = np.linalg.norm(paths - target, axis=-1).sum(axis=-1)
    furthest = np.linalg.norm(paths - position, axis=-1).max() + APART
    near = others[np.linalg.norm(others - position, axis=-1).min(axis=-1) <= furthest]
    gaps = np.linalg.norm(paths[:, None] - near[None], axis=-1)
    costs += COLLISION_COST * (gaps < APART).sum(axis=(1, 2))
    best = int(np.argmin(costs))
    return int(PLANS[best, 0]), paths[best]


def _roll_out(
    positions: Points, velocities: Points, plans: Int[np.ndarray, "plan step"]
) -> Float[np.ndarray, "agent plan step 2"]:
    """Where each plan leads if nobody is in the way, from the first step that the plan can change."""
    forces = ACTION_FORCE * DIRECTIONS[plans]
    place = np.broadcast_to(positions[:, None], (len(positions), len(plans), 2))
    speed = np.broadcast_to(velocities[:, None], place.shape)
    path = []
    for step in range(plans.shape[1]):
        place = place + speed * TIME_STEP
        speed = speed * (1 - DAMPING) + forces[:, step] * TIME_STEP
        path.append(place + speed * TIME_STEP)
    return np.stack(path, axis=2)
