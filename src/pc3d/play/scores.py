"""Scores by team size: a team plays whole episodes, side by side, wherever its arena steps them."""

from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from pc3d.play.arena import Arena, Look, played, wide_for
from pc3d.play.episode import Episode
from pc3d.play.starts import rollout_keys
from pc3d.play.team import Team
from pc3d.tasks.task import Game

MOST_AT_ONCE = 128  # episodes side by side; more are no faster on a CPU and only fill the memory
AGENTS_AT_ONCE = 1280  # in all of them


class SizeScores(eqx.Module):
    """What the rollouts of one team size came to."""

    returns: Float[Array | np.ndarray, " rollout"]
    measures: Mapping[str, Float[Array | np.ndarray, " rollout"]]


def returns_by_size(
    arena: Arena, team: Team, team_sizes: tuple[int, ...], rollouts: int
) -> dict[int, Float[np.ndarray, " rollout"]]:
    """The reported returns of that many rollouts of each size."""
    wide = wide_for(arena, max(team_sizes))
    return {size: np.asarray(score(wide, team, size, rollouts).returns) for size in team_sizes}


def scores_of(
    game: Game, episodes: Episode, beside: tuple[Key[Array, " episode"], Int[Array, ""]]
) -> SizeScores:
    """Returns and measures as they are, of episodes with these keys and of this team size."""
    _, team_size = beside
    returns = game.reported_return(jnp.asarray(episodes.total_reward), team_size)
    return SizeScores(returns, episodes.measures)


def score(
    arena: Arena, team: Team, team_size: int, rollouts: int, look: Look[SizeScores] = scores_of
) -> SizeScores:
    """Score one team size.

    The size is data, so all sizes share one program if the arena is as wide as the largest of them. That
    beats a narrower program for each size: compiling one takes longer than the padding costs.
    """
    batches, per_batch = batches_of(arena.game.slots, rollouts)
    keys = rollout_keys(team_size, batches * per_batch).reshape(batches, per_batch)
    sizes = np.full(per_batch, team_size, np.int32)
    parts = [played(arena, team, part, sizes, look, (part, jnp.asarray(team_size))) for part in keys]
    return jax.tree.map(lambda *values: np.concatenate(values)[:rollouts], *parts)


def batches_of(slots: int, rollouts: int) -> tuple[int, int]:
    """How many batches, and how many rollouts in each: all alike, so that none needs a program of its own.

    The last one may play more than is kept.
    """
    batches = -(-rollouts // min(MOST_AT_ONCE, max(1, AGENTS_AT_ONCE // slots)))
    return batches, -(-rollouts // batches)
