"""A trained policy at play, outside of any loop of ours: one agent, or a whole team, a moment at a time."""

import operator
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Num

from pc3d.experiment.experiment import LARGEST_SEED
from pc3d.networks.actor import Actor
from pc3d.networks.coached_actor import CoachedActor
from pc3d.networks.conducted_actor import ConductedActor
from pc3d.networks.talking_actor import TalkingActor
from pc3d.play.coached_team import CoachedTeam
from pc3d.play.starts import LARGEST_TEAM
from pc3d.play.talking_team import team_of
from pc3d.play.team import Memory, Team, View
from pc3d.system.bounds import within
from pc3d.system.errors import BadInput
from pc3d.system.plain import amount


class Players:
    """Agents that act side by side, each from what it alone has seen since `reset`."""

    def __init__(self, actor: Actor, team_size: int, *, seed: int = 0, greedy: bool = False) -> None:
        within("the team size", _whole_number("the team size", team_size), 1, LARGEST_TEAM)
        within("seed", _whole_number("seed", seed), 0, LARGEST_SEED)
        self._team, self._size = team_of(actor, greedy=greedy), team_size
        self._width = actor.encoder.inputs
        self._actions = jax.eval_shape(actor.conditioning, actor.first_memory()).logits.size
        self._chance = np.random.default_rng(seed)
        self.reset()

    def __repr__(self) -> str:
        return f"Players({amount(self._size, 'agent')}, {self._words})"

    @property
    def _words(self) -> str:
        box = self._team.actor.squashing
        acts = (
            amount(self._actions, "action")
            if box is None
            else f"actions of {amount(len(box.box.names), 'number')}"
        )
        return f"{amount(self._width, 'number')} seen, {acts}"

    def reset(self) -> None:
        """Begin another episode: everybody forgets. The draws go on."""
        self._memory = self._team.first(1, self._size)

    def act(
        self, observations: Any, allowed: Any = None, *, visible: Any = None, whole: Any = None
    ) -> Num[np.ndarray, " agent *number"]:
        """Everybody's action, from everybody's observation, in the same order every time.

        Of a task with masks, `allowed` says who may take which action now, as zeros and ones. Of agents that
        send each other messages, `visible` says in the same way who sees, and so hears, whom. A coach is
        shown `whole`: all entities there are, as the task's `whole` makes them.
        """
        try:
            with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused as that
                seen = np.asarray(observations).astype(np.float32, casting="same_kind")
        except (TypeError, ValueError):
            raise BadInput("an observation is made of finite numbers, equally many for everybody") from None
        if seen.shape != (self._size, self._width):
            raise BadInput(
                f"{amount(self._size, 'agent')} {'sees' if self._size == 1 else 'each see'} {self._width} "
                f"numbers, not an array of shape {seen.shape}"
            )
        if not np.isfinite(seen).all():  # else the agents' memories would never be numbers again
            raise BadInput("an observation is made of finite numbers, which 32 bits can hold")
        box = self._team.actor.squashing
        numbers = () if box is None else box.box.shape
        chances = self._chance.random((1, self._size, *numbers), np.float32)
        mask = None if allowed is None else self._mask(allowed)
        links = self._links(visible) if self._team.execution.by_sight else None
        everything = self._whole(whole) if self._team.execution.coached else None
        self._memory, actions = _step(self._team, self._memory, seen[None], chances, mask, links, everything)
        return np.asarray(actions[0])

    def _links(self, visible: Any) -> Bool[np.ndarray, "1 agent agent"]:
        if visible is None:
            raise BadInput("agents of this policy hear those whom they see: say with `visible` who sees whom")
        links = np.asarray(visible).astype(bool)
        if links.shape != (self._size, self._size):
            raise BadInput(
                f"who of {self._size} agents sees whom are {self._size} zeros and ones for each, not the "
                f"shape {links.shape}"
            )
        return (links | np.eye(self._size, dtype=bool))[None]

    def _whole(self, whole: Any) -> Float[np.ndarray, "1 state"]:
        if whole is None:
            raise BadInput("this policy's coach sees everything: give it with `whole`, as the task makes it")
        made = np.asarray(whole, np.float32)
        assert isinstance(self._team, CoachedTeam)
        assert self._team.actor.coach is not None
        row = self._team.actor.coach.attention.features + 1
        if made.ndim != 1 or made.size % row or made.size < row * self._size:
            raise BadInput(
                f"all entities are rows of {row} numbers one after the other, those of {self._size} agents "
                f"first, not an array of shape {made.shape}"
            )
        return made[None]

    def _mask(self, allowed: Any) -> Bool[np.ndarray, "1 agent action"]:
        if self._team.actor.squashing is not None:
            raise BadInput("this policy's actions are real numbers, which no mask forbids")
        mask = np.asarray(allowed).astype(bool)
        if mask.shape != (self._size, self._actions):
            raise BadInput(
                f"a mask of {amount(self._size, 'agent')} has {self._actions} zeros and ones for each, not "
                f"the shape {mask.shape}"
            )
        if not mask.any(axis=-1).all():
            raise BadInput(f"the mask of agent {int(mask.any(axis=-1).argmin())} allows no action")
        return mask[None]


class Agent:
    """One agent by itself: as it would run on a robot of its own."""

    def __init__(self, actor: Actor, *, seed: int = 0, greedy: bool = False) -> None:
        if isinstance(actor, CoachedActor):
            raise BadInput("agents of this policy listen to a coach: play them as a team (`players`)")
        if isinstance(actor, TalkingActor | ConductedActor):
            raise BadInput(
                "agents of this policy send each other messages, so none of them acts alone: "
                "play them as a team (`players`)"
            )
        self._players = Players(actor, 1, seed=seed, greedy=greedy)

    def __repr__(self) -> str:
        return f"Agent({self._players._words})"

    def reset(self) -> None:
        """Begin another episode."""
        self._players.reset()

    def act(
        self, observation: Sequence[float] | np.ndarray, allowed: Sequence[bool] | np.ndarray | None = None
    ) -> int | np.ndarray:
        """The next action, from this observation and all since `reset`: its number, or its real numbers.

        Of a task with masks, `allowed` says which actions may be taken now.
        """
        action = self._players.act([observation], None if allowed is None else [allowed])[0]
        return action if action.ndim else int(action)


def _whole_number(name: str, value: Any) -> int:
    """A whole number of whatever package."""
    try:
        return operator.index(value)
    except TypeError:
        raise BadInput(f"{name} must be a whole number, not {value!r}") from None


@jax.jit
def _step(
    team: Team,
    memory: Memory,
    observations: Float[Array, "1 agent observation"],
    chances: Float[Array, "1 agent *number"],
    allowed: Bool[Array, "1 agent action"] | None,
    links: Bool[Array, "1 agent agent"] | None,
    whole: Float[Array, "1 state"] | None,
) -> tuple[Memory, Num[Array, "1 agent *number"]]:
    present = jnp.ones(observations.shape[:2], bool)
    view = View(observations, present, allowed=allowed, links=links, whole=whole)
    memory, decision = team.step(memory, view, chances)
    return memory, decision.actions
