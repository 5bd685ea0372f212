"""A rota: who is there at each moment of some episodes, known before anything is played."""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Int, Key

from pc3d.experiment.roster_process import CONSTANT
from pc3d.play.presence import joined
from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.make import playable
from pc3d.tasks.presence import presence_in
from pc3d.tasks.task import Game, Task


class Rota(eqx.Module):
    """Whoever is `fresh` at a moment remembers nothing: newcomers, if nothing else is wanted."""

    present: Bool[AnyArray, "episode moment agent"]
    fresh: Bool[AnyArray, "episode moment agent"]

    @classmethod
    def of(cls, present: Bool[Array, "episode moment agent"]) -> Rota:
        return cls(present, joined(present))


def has_rota(game: Game) -> bool:
    """Whether a process says who is there. A task whose own rules let agents come and go needs none."""
    return isinstance(game, Task) and game.roster != CONSTANT


def rota_of(game: Game, keys: Key[Array, " episode"], team_sizes: Int[AnyArray, " episode"]) -> Rota | None:
    """What the game's roster process draws for the episodes of these keys; None if there is none."""
    if not has_rota(game):
        return None
    task = playable(game)
    return Rota.of(jax.vmap(partial(presence_in, task))(keys, team_sizes))
