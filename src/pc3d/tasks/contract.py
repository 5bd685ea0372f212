"""Does a JAX task keep the promises of the interface? Shapes, measures, and that padding is neutral."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray

from pc3d.tasks.task import AnyTask

PRECISION = 1e-5
Played = tuple[Array, Array, dict[str, Array]]  # views, rewards and measures, over time


def broken_promises(task: AnyTask, team_size: int) -> list[str]:
    """What is wrong with a team of this size in a world as wide as the task, played by chance."""
    key = jax.random.key(team_size)
    actions = jax.random.randint(key, (task.slots, task.horizon), 0, task.action_count).T
    wide = _episode(task, key, team_size, actions)
    problems = list(_wrong_shapes(task, team_size, wide))
    if problems:
        return problems
    views, rewards, _ = wide
    if np.any(views[:, team_size:]):
        problems.append("observe must give zeros for slots that nobody fills")
    exact = task.with_slots(team_size)
    own_views, own_rewards, _ = _episode(exact, key, team_size, actions[:, :team_size])
    same_views = np.allclose(own_views, views[:, :team_size], atol=PRECISION)
    if not (same_views and np.allclose(own_rewards, rewards, atol=PRECISION)):
        problems.append(
            f"a team plays otherwise in a world with {task.slots} slots than in one with {team_size}: leave "
            "inactive slots out of every sum, and draw per slot"
        )
    return problems


@partial(jax.jit, static_argnums=(0, 2))
def _episode(task: AnyTask, key: PRNGKeyArray, team_size: int, actions: Int[Array, "time agent"]) -> Played:
    """What it brings is of whatever shapes the task gives it."""
    start = task.reset(key, team_size)

    def step(state: Any, drawn: tuple[PRNGKeyArray, Array]) -> tuple[Any, Played]:
        state, outcome = task.step(drawn[0], state, drawn[1])
        return state, (task.observe(state), outcome.reward, outcome.measures)

    _, played = jax.lax.scan(step, start, (jax.random.split(key, task.horizon), actions))
    return played


def _wrong_shapes(task: AnyTask, team_size: int, played: Played) -> Iterator[str]:
    views, rewards, measures = played
    if views.shape[1:] != (task.slots, task.observation_width):
        yield (
            f"observe gives {views.shape[1:]} numbers with {task.slots} slots, not "
            f"{(task.slots, task.observation_width)} as observation_layout says"
        )
    if rewards.shape[1:]:
        yield f"the reward of a step is one number for the team, not an array of {rewards.shape[1:]}"
    if set(measures) != set(task.measure_names):
        yield f"step measures {sorted(measures)}, but measure_names has {sorted(task.measure_names)}"
    if not np.isfinite(rewards).all() or not np.isfinite(views[:, :team_size]).all():
        yield "an observation or a reward is not a finite number"
