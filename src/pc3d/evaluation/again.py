"""Episodes once more, by their actions: for what only the states tell, which an episode does not keep."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Key, Num

from pc3d.play.episode import draws_of
from pc3d.play.rota import Rota
from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.task import AnyTask

# Of one episode: the state before a step, the actions, and the state after it, with the same team still.
Sight = Callable[[Any, Any, Any], Bool[Array, " agent"]]


def seen_again(
    task: AnyTask,
    keys: Key[Array, " episode"],
    team_sizes: Int[AnyArray, " episode"],
    actions: Num[AnyArray, "episode time agent *number"],
    sight: Sight,
    rota: Rota | None = None,
) -> Bool[Array, "time episode agent"]:
    """Of which agents something is true, step by step, while these actions are played once more."""
    draws, by_time = draws_of(task, keys), jnp.moveaxis(jnp.asarray(actions), 1, 0)
    first, later = None, None
    if rota is not None:
        first, later = rota.present[:, 0], jnp.moveaxis(jnp.asarray(rota.present), 1, 0)[1:]
    start = jax.vmap(task.begin)(draws.start, jnp.asarray(team_sizes), first)

    def step_of_one(state: Any, drawn: tuple[Any, Any, Any]) -> tuple[Any, Bool[Array, " agent"]]:
        key, chosen, following = drawn
        after, _ = task.step(key, state, chosen)
        seen = sight(state, chosen, after)
        return after if following is None else task.changed(key, after, following), seen

    _, seen = jax.lax.scan(jax.vmap(step_of_one), start, (draws.steps, by_time, later))
    return seen
