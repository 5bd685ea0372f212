"""Does a JAX task keep the promises of the interface? Shapes, measures, and that padding is neutral."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from pc3d.tasks.chance import by_chance
from pc3d.tasks.parts import PartBroken, array_of, calling, start_of, step_of
from pc3d.tasks.task import AnyTask

PRECISION = 1e-5


class Played(eqx.Module):
    """What an episode brought, over time, in whatever shapes the task gives it."""

    views: Array
    rewards: Array
    measures: dict[str, Array]
    stuck: Array  # whether somebody who had to act was allowed nothing


def broken_promises(task: AnyTask, team_size: int) -> list[str]:
    """What is wrong with a team of this size in a world as wide as the task, played by chance."""
    try:
        return _broken_promises(task, team_size)
    except PartBroken as error:
        return [str(error)]


def _broken_promises(task: AnyTask, team_size: int) -> list[str]:
    key = jax.random.key(team_size)
    space = task.action_space
    chances = jnp.swapaxes(jax.random.uniform(key, (task.slots, task.horizon, *space.shape)), 0, 1)
    wide = _episode(task, key, team_size, chances)
    problems = list(_wrong_shapes(task, team_size, wide))
    if problems:
        return problems
    if np.any(wide.views[:, team_size:]):
        problems.append("observe must give zeros for slots that nobody fills")
    exact = task.with_slots(team_size)
    own = _episode(exact, key, team_size, chances[:, :team_size])
    same_views = np.allclose(own.views, wide.views[:, :team_size], atol=PRECISION)
    if not (same_views and np.allclose(own.rewards, wide.rewards, atol=PRECISION)):
        problems.append(
            f"a team plays otherwise in a world with {task.slots} slots than in one with {team_size}: leave "
            "inactive slots out of every sum, and draw per slot"
        )
    if task.has_entities:
        problems += _wrong_entities(task, key, team_size)
    return problems


@partial(jax.jit, static_argnums=(0, 2))
def _episode(
    task: AnyTask, key: PRNGKeyArray, team_size: int, chances: Float[Array, "time agent *number"]
) -> Played:
    with calling("reset"):
        start = start_of(task.reset(key, team_size)), jnp.asarray(True)

    def step(now: tuple[Any, Array], drawn: tuple[PRNGKeyArray, Array]) -> tuple[tuple[Any, Array], Played]:
        state, going = now
        allowed = _allowed(task, state) if task.action_space.masked else None
        actions = by_chance(task.action_space, drawn[1], allowed)
        with calling("step"):
            following, outcome = step_of(task.step(drawn[0], state, actions), state)
        with calling("observe"):
            views = array_of("what observe returns", task.observe(following))
        stuck = jnp.zeros(task.slots, bool) if allowed is None else ~jnp.any(allowed, axis=-1)
        stuck = going & jnp.any(task.present(state) & stuck)
        going = going & ~(outcome.terminated | outcome.truncated)
        played = Played(views, outcome.reward, outcome.measures, stuck)
        return (following, going), played

    _, played = jax.lax.scan(step, start, (jax.random.split(key, task.horizon), chances))
    return played


def _allowed(task: AnyTask, state: Any) -> Bool[Array, "agent action"]:
    with calling("available_actions"):
        allowed = array_of("what available_actions returns", task.available_actions(state))
    if allowed.shape != (task.slots, task.action_count):
        raise PartBroken(
            f"available_actions gives shape {allowed.shape} with {task.slots} slots, not "
            f"{(task.slots, task.action_count)}"
        )
    return allowed


def _wrong_shapes(task: AnyTask, team_size: int, played: Played) -> Iterator[str]:
    views, rewards, measures = played.views, played.rewards, played.measures
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
    if np.any(played.stuck):
        yield "available_actions allows somebody no action: leave everybody one that does nothing"


@partial(jax.jit, static_argnums=(0, 2))
def _entities_at_the_start(
    task: AnyTask, key: PRNGKeyArray, team_size: int
) -> tuple[Bool[Array, "agent entity"], Float[Array, "agent entity feature"]]:
    with calling("entities"):
        view = task.entities(task.reset(key, team_size))
    return view.visible, view.seen_by_each()


def _wrong_entities(task: AnyTask, key: PRNGKeyArray, team_size: int) -> Iterator[str]:
    visible, seen = _entities_at_the_start(task, key, team_size)
    team, nobody = np.arange(task.slots) < team_size, ~np.asarray(visible[:, : task.slots])
    if len(visible) != task.slots or not np.array_equal(np.diag(nobody), ~team):
        yield "the first entities must be the agents, slot by slot, of whom all that are there see themselves"
    elif np.any(visible[team_size:]) or not np.all(nobody[:, ~team]):
        yield "entities: slots that nobody fills see nothing, and nobody sees them"
    _, alone = _entities_at_the_start(task.with_slots(team_size), key, team_size)
    # In whatever order things come there.
    if not np.allclose(np.sum(alone, axis=1), np.sum(seen, axis=1)[:team_size], atol=PRECISION):
        yield f"entities are seen otherwise in a world with {task.slots} slots than in one with {team_size}"
