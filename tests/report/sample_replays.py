"""Replays to show: the real games played at random, with made-up gates and alignments."""

from functools import cache, partial
from typing import Any

import jax
import numpy as np

from pc3d.experiments import ROSTERS
from pc3d.tasks import task_class
from pc3d.tasks.foraging import SIDE, SIGHT
from pc3d.tasks.warehouse import ALL_STORED, COLUMNS, FLOOR, GOALS, HIGHWAY, ROWS, STORAGE, column_and_row


def sample_replay(task: str, method: str, team_size: int, *, seed: int = 0, steps: int = 25) -> dict[str, Any]:
    """One episode of random play; methods meet the same start and act differently."""
    start, states, rewards = _play(task, team_size, steps, sum(method.encode()) + seed)
    generator = np.random.default_rng([team_size, seed])
    has_context = method == "pc3d"
    wave = np.sin(np.arange(steps)[:, None] / 4 + np.arange(team_size))
    gate = np.clip(50 + 45 * wave, 0, 100).astype(int).tolist()
    alignment = np.clip(70 - 60 * wave + generator.normal(0, 10, wave.shape), -100, 100).astype(int).tolist()
    total = float(rewards.sum())
    return {
        "format": 1,
        "task": task,
        "method": method,
        "seed": seed,
        "team_size": team_size,
        "split": ROSTERS[task].split_of(team_size),
        "rollout": 0,
        "return": total / team_size if task == "lbf" else total,
        "reward": np.round(rewards, 3).tolist(),
        "gate": gate if has_context else None,
        "alignment": alignment if has_context else None,
        "world": WORLDS[task](start, states),
    }


@cache
def _play(task_name: str, team_size: int, steps: int, actions_seed: int) -> tuple[Any, Any, np.ndarray]:
    """The start, then all states (the start first) and rewards, as NumPy arrays with time as first axis."""
    task = task_class(task_name)(team_size)
    start, states, rewards = _episode(task, steps, jax.random.key(team_size), jax.random.key(actions_seed))
    with_start = jax.tree.map(lambda first, later: np.concatenate([np.asarray(first)[None], later]), start, states)
    return start, with_start, np.asarray(rewards, float)


@partial(jax.jit, static_argnums=(0, 1))
def _episode(task, steps, start_key, action_key):
    start = task.reset(start_key, task.slots)

    def step(state, key):
        actions = jax.random.randint(key, (task.slots,), 0, task.action_count)
        state, outcome = task.step(key, state, actions)
        return state, (state, outcome.reward)

    _, (states, rewards) = jax.lax.scan(step, start, jax.random.split(action_key, steps))
    return start, states, rewards


def _spread_world(start, states) -> dict[str, Any]:
    thousandths = lambda values: np.round(np.asarray(values) * 1000).astype(int).tolist()  # noqa: E731
    return {"landmarks": thousandths(start.landmarks), "positions": thousandths(states.positions)}


def _lbf_world(start, states) -> dict[str, Any]:
    present = np.flatnonzero(np.asarray(start.food_levels) > 0)
    foods = np.column_stack([start.food_positions, start.food_levels])[present]
    left = (states.food_levels[:, present] > 0) @ (1 << np.arange(len(present)))
    return {
        "size": SIDE,
        "sight": SIGHT,
        "levels": np.asarray(start.levels).tolist(),
        "foods": foods.tolist(),
        "food_left": left.tolist(),
        "positions": states.positions.tolist(),
    }


def _rware_world(start, states) -> dict[str, Any]:
    del start
    places = [list(map(int, column_and_row(cell))) for cell in STORAGE]
    positions = np.stack(column_and_row(states.cells), axis=-1)
    moves = []
    for step, (before, after) in enumerate(zip(states.standing[:-1], states.standing[1:], strict=True), start=1):
        moves += [
            [step, int(after[cell]) - 1, *map(int, column_and_row(cell))]
            for cell in np.flatnonzero((before == 0) & (after != 0))
        ]
    assert (states.standing[0] == ALL_STORED).all()
    return {
        "columns": COLUMNS,
        "rows": ROWS,
        "goals": [list(map(int, column_and_row(goal))) for goal in GOALS],
        "highway": "".join("01"[int(cell)] for cell in HIGHWAY[FLOOR]),
        "shelves": places,
        "positions": positions.tolist(),
        "directions": states.directions.tolist(),
        "carried": (states.carried - 1).tolist(),
        "moves": moves,
        "requests": (states.requests - 1).tolist(),
    }


WORLDS = {"spread": _spread_world, "lbf": _lbf_world, "rware": _rware_world}
