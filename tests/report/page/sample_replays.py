"""Replays to show: the real games played at random, with made-up gates and alignments."""

from functools import cache, partial
from typing import Any

import jax
import numpy as np

from pc3d.evaluation.replay import FORMAT
from pc3d.tasks.registry import entry_of, paper_of


def sample_replay(
    task: str, method: str, team_size: int, *, seed: int = 0, steps: int = 25
) -> dict[str, Any]:
    """One episode of random play; methods meet the same start and act differently."""
    states, rewards = _play(task, team_size, steps, sum(method.encode()) + seed)
    total = float(rewards.sum())
    has_context = method == "pc3d"
    wave = np.sin(np.arange(steps)[:, None] / 4 + np.arange(team_size))
    return {
        "format": FORMAT,
        "task": task,
        "method": method,
        "seed": seed,
        "team_size": team_size,
        "split": paper_of(task).rosters.split_of(team_size),
        "rollout": 0,
        "return": total / team_size if task == "lbf" else total,
        "reward": np.round(rewards, 3).tolist(),
        "gate": np.rint(50 + 45 * wave).astype(int).tolist() if has_context else None,
        "alignment": np.rint(40 - 60 * wave).astype(int).tolist() if has_context else None,
        "attention": _attention(steps, team_size) if has_context else None,
        "world": entry_of(task).replay.load()(entry_of(task).make(team_size), states, team_size),
    }


def _attention(steps: int, team_size: int, tokens: int = 4) -> dict[str, Any]:
    """Token k looks at agent k above all, and agents read what looks at them."""
    share = np.where(np.arange(team_size)[:, None] % tokens == np.arange(tokens), 70, 10)
    return {name: [share.tolist()] * steps for name in ("over_agents", "over_tokens")}


@cache
def _play(task_name: str, team_size: int, steps: int, actions_seed: int) -> tuple[Any, np.ndarray]:
    """The start and all states after it, and the rewards, with time as their first axis."""
    task = entry_of(task_name).make(team_size)
    start, later, rewards = _episode(task, steps, jax.random.key(team_size), jax.random.key(actions_seed))
    states = jax.tree.map(lambda first, rest: np.concatenate([np.asarray(first)[None], rest]), start, later)
    return states, np.asarray(rewards, float)


@partial(jax.jit, static_argnums=(0, 1))
def _episode(task, steps, start_key, action_key):
    start = task.reset(start_key, task.slots)

    def step(state, key):
        actions = jax.random.randint(key, (task.slots,), 0, task.action_count)
        state, outcome = task.step(key, state, actions)
        return state, (state, outcome.reward)

    _, (states, rewards) = jax.lax.scan(step, start, jax.random.split(action_key, steps))
    return start, states, rewards
