"""Twins: the same episodes with the change, without it, with the later team from the start, and forgetful.

They share starts, draws and compiled program, so that they are equal to the bit until a change makes them
differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, Num

from pc3d.evaluation.again import seen_again
from pc3d.evaluation.changing.joiners import Waiting, waiting_times
from pc3d.play.arena import Arena, played
from pc3d.play.episode import Episode
from pc3d.play.rota import Rota, rota_of
from pc3d.play.scores import batches_of
from pc3d.play.starts import rollout_keys
from pc3d.play.team import Team
from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.task import Game, Task

Rewards = Float[np.ndarray, "rollout time"]
CHANGED, UNCHANGED, LATER, WIPED = "changed", "unchanged", "later", "wiped"
TWINS = (CHANGED, UNCHANGED, LATER, WIPED)


@dataclass(frozen=True)
class Twins:
    """Rewards of the same rollouts of one team size, in the units of the reported return."""

    team_size: int
    rewards: dict[str, Rewards]
    present: Bool[np.ndarray, "rollout moment agent"]  # with the change
    waiting: Waiting | None = None
    """With the change: how long joiners and incumbents take; None where nobody joins, or no task tells."""

    @property
    def sizes(self) -> Int[np.ndarray, "rollout moment"]:
        return np.asarray(self.present.sum(axis=2))

    @property
    def changes(self) -> Bool[np.ndarray, "rollout time"]:
        """After which moments somebody has left or joined: the reward there is the first of the new team."""
        found = (self.present[:, 1:] != self.present[:, :-1]).any(axis=2)
        return np.concatenate([np.zeros((len(found), 1), bool), found[:, :-1]], axis=1)

    @property
    def first_changes(self) -> Int[np.ndarray, " rollout"]:
        """The first step of the new team; as many as there are steps where nothing changed."""
        changes = self.changes
        return np.where(changes.any(axis=1), changes.argmax(axis=1), changes.shape[1])


def play_twins(arena: Arena, team: Team, team_size: int, rollouts: int) -> Twins:
    """Play a size's rollouts by the roster of the arena's game, and their twins."""
    keys = rollout_keys(team_size, rollouts)
    sizes = np.full(rollouts, team_size, np.int32)
    changed = _drawn(arena.game, keys, sizes)
    found = {name: _played(arena, team, keys, team_size, rota) for name, rota in twin_rotas(changed).items()}
    rewards, present = {name: one.rewards for name, one in found.items()}, np.asarray(changed.present)
    waiting, game = None, arena.game
    if isinstance(game, Task) and game.tells_contributions:
        by_time = _seen_again(game, keys, sizes, found[CHANGED].actions, game.contributed, changed)
        waiting = waiting_times(np.moveaxis(np.asarray(by_time), 0, 1), found[CHANGED].played, present)
    return Twins(team_size, rewards, present, waiting)


def twin_rotas(changed: Rota) -> dict[str, Rota]:
    """The rota that was drawn, and what it is compared with."""
    present = jnp.asarray(changed.present)
    before = jnp.concatenate([present[:, :1], present[:, :-1]], axis=1)
    changes = jnp.any(present != before, axis=2, keepdims=True)
    return {
        CHANGED: changed,
        UNCHANGED: constant_rota(present, 0),
        LATER: constant_rota(present, -1),
        WIPED: Rota(present, present & changes),
    }


def constant_rota(present: Bool[Array, "episode moment agent"], moment: int) -> Rota:
    """Whoever is there at that moment is always there."""
    return Rota.of(jnp.broadcast_to(present[:, moment, None], present.shape))


def steady_rota(shape: tuple[int, ...], team_size: int) -> Rota:
    """The first so many slots are always filled."""
    return Rota.of(jnp.broadcast_to(jnp.arange(shape[-1]) < team_size, shape))


def rewards_of(arena: Arena, team: Team, keys: Key[Array, " rollout"], team_size: int, rota: Rota) -> Rewards:
    """The rewards of every step by a rota."""
    return _played(arena, team, keys, team_size, rota).rewards


class _Played(NamedTuple):
    """What is looked at of played rollouts."""

    rewards: Float[AnyArray, "rollout time"]
    actions: Num[AnyArray, "rollout time agent *number"]
    played: Bool[AnyArray, "rollout time"]


def _played(arena: Arena, team: Team, keys: Key[Array, " rollout"], team_size: int, rota: Rota) -> Any:
    """Batch by batch."""
    batches, per_batch = batches_of(arena.game.slots, len(keys))
    # The last batch begins with as many as the others; what it plays again is left out.
    numbers = np.arange(batches * per_batch).reshape(batches, per_batch) % len(keys)
    sizes, parts = np.full(per_batch, team_size, np.int32), []
    for batch in numbers:
        part: Rota = jax.tree.map(lambda values, batch=batch: values[batch], rota)
        parts.append(played(arena, team, keys[batch], sizes, _looked_at, team_size, part))
    return jax.tree.map(lambda *several: np.concatenate(several)[: len(keys)], *parts)


def _looked_at(game: Game, episodes: Episode, team_size: Any) -> _Played:
    rewards = game.reported_return(jnp.asarray(episodes.rewards), team_size)
    return _Played(rewards, episodes.actions, episodes.played)


_seen_again = jax.jit(seen_again, static_argnums=(0, 4))


@partial(jax.jit, static_argnums=0)
def _drawn(game: Game, keys: Key[Array, " rollout"], team_sizes: Int[Array, " rollout"]) -> Rota:
    rota = rota_of(game, keys, team_sizes)
    assert rota is not None, "asked for only where rosters change"
    return rota
