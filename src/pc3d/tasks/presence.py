"""Who is there at each moment of an episode: drawn from a roster process before the episode begins.

It is a function of process, key and team size alone: the same for every policy, and in a wider world.
"""

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.experiment.roster_process import (
    Churn,
    Constant,
    Limits,
    Planned,
    RosterProcess,
    Schedule,
    Shock,
    Spans,
)
from pc3d.tasks.task import ROSTER_DRAWS, AnyTask, slot_keys

TEAM_DRAWS = 1 << 20  # folded into the key where slots have their numbers
CHANCES = 2  # of each slot at each moment
TEAM_CHANCES = 4


class _Now(eqx.Module):
    present: Bool[Array, " slot"]
    waited: Int[Array, " slot"]  # moments since the slot was taken or left
    chance: Float[Array, " slot"]  # what was drawn then


class _Draw(eqx.Module):
    """Of one moment; over time before the loop takes it apart."""

    moment: Int[Array, "*time"]
    slots: Float[Array, "*time slot own"]
    team: Float[Array, "*time shared"]


class _Wish(eqx.Module):
    """Who would leave and which slots would be taken, and how many of them at most."""

    leaving: Bool[Array, " slot"]
    joining: Bool[Array, " slot"]
    most_leaving: Int[Array, ""]
    most_joining: Int[Array, ""]


class _Team(eqx.Module):
    """The team that a process is drawn for."""

    size: Int[Array, ""]
    limits: Limits  # of traced numbers
    fewest: int = eqx.field(static=True)
    slots: int = eqx.field(static=True)
    horizon: int = eqx.field(static=True)


_Wishes = Callable[[_Now, _Draw], _Wish]


def presence_in(
    task: AnyTask, key: PRNGKeyArray, team_size: int | Int[Array, ""]
) -> Bool[Array, "moment slot"]:
    """Who is there in the episode with this key, by the task's own process."""
    return presence(
        task.roster,
        jax.random.fold_in(key, ROSTER_DRAWS),
        team_size,
        slots=task.slots,
        horizon=task.horizon,
        fewest=task.fewest_present,
    )


def presence(
    process: RosterProcess,
    key: PRNGKeyArray,
    team_size: int | Int[Array, ""],
    *,
    slots: int,
    horizon: int,
    fewest: int,
) -> Bool[Array, "moment slot"]:
    """Who is there, at the start and after every step; the first `team_size` slots are filled first."""
    filled = jnp.arange(slots) < team_size
    if isinstance(process, Constant):
        return jnp.broadcast_to(filled, (horizon + 1, slots))
    limits = _looked_up([process.limits(max(size, 1), fewest) for size in range(slots + 1)], team_size)
    team = _Team(jnp.asarray(team_size), Limits(*limits), fewest, slots, horizon)
    own = jax.vmap(lambda key: jax.random.uniform(key, (horizon + 1, CHANCES)))(slot_keys(key, slots))
    shared = jax.random.uniform(jax.random.fold_in(key, TEAM_DRAWS), (horizon, TEAM_CHANCES))
    draws = _Draw(jnp.arange(1, horizon + 1), jnp.moveaxis(own[:, 1:], 0, 1), shared)
    wishes = _wishes(process, team, jax.random.fold_in(key, TEAM_DRAWS + 1))
    start = _Now(filled, jnp.zeros(slots, jnp.int32), own[:, 0, 1])

    def step(now: _Now, draw: _Draw) -> tuple[_Now, Bool[Array, " slot"]]:
        following = _changed(now, draw, wishes(now, draw), team)
        return following, following.present

    _, later = jax.lax.scan(step, start, draws)
    return jnp.concatenate([filled[None], later])


def _changed(now: _Now, draw: _Draw, wish: _Wish, team: _Team) -> _Now:
    """Some leave; then some join, in slots that were empty before. Where not all can, the lowest draws do."""
    order, count = draw.slots[:, 0], jnp.sum(now.present)
    leaving = _first(now.present & wish.leaving, order, wish.most_leaving)
    room = team.limits.largest - count + jnp.sum(leaving)
    empty = ~now.present & (jnp.arange(team.slots) < team.limits.slots)
    joining = _first(empty & wish.joining, order, jnp.minimum(wish.most_joining, room))
    changed = leaving | joining
    return _Now(
        present=now.present ^ changed,
        waited=jnp.where(changed, 0, now.waited + 1),
        chance=jnp.where(changed, draw.slots[:, 1], now.chance),
    )


def _first(
    wishing: Bool[Array, " slot"], order: Float[Array, " slot"], most: Int[Array, ""]
) -> Bool[Array, " slot"]:
    before = jnp.sum(wishing[:, None] & (order[:, None] < order), axis=0)
    return wishing & (before < most)


@singledispatch
def _wishes(process: RosterProcess, team: _Team, key: PRNGKeyArray) -> _Wishes:
    """What a process wishes at each moment."""
    raise NotImplementedError(type(process))


@_wishes.register
def _planned(process: Planned, team: _Team, key: PRNGKeyArray) -> _Wishes:
    changes = [process.changes(max(n, 1), team.fewest) for n in range(team.slots + 1)]
    counts = _looked_up(changes, team.size)
    moments = _moments(process, key, team.horizon)
    anybody = jnp.ones(team.slots, bool)

    def wish(now: _Now, draw: _Draw) -> _Wish:
        del now
        leave, join = jnp.sum(jnp.where(moments[:, None] == draw.moment, counts, 0), axis=0)
        return _Wish(anybody, anybody, leave, join)

    return wish


def _moments(process: Planned, key: PRNGKeyArray, horizon: int) -> Int[Array, " change"]:
    if isinstance(process, Schedule):
        return jnp.asarray([event.step for event in process.events])
    assert isinstance(process, Shock)
    first, last = process.moments(horizon)
    return jax.random.randint(key, (1,), first, last + 1)


@_wishes.register
def _churning(process: Churn, team: _Team, key: PRNGKeyArray) -> _Wishes:
    del key
    leave, join = process.chances(team.horizon)
    minimum = process.steps_to_stay(team.horizon)
    likely = jnp.cumsum(jnp.asarray(process.burst))

    def burst(event: Float[Array, ""], size: Float[Array, ""], chance: float) -> Int[Array, ""]:
        """How many of the team an event takes, if there is one."""
        # Rounding can leave the last sum a little below 1, and a draw above it.
        many = jnp.minimum(1 + jnp.sum(size >= likely), len(process.burst))
        return jnp.where(event < chance, many, 0)

    def wish(now: _Now, draw: _Draw) -> _Wish:
        stayed = now.waited + 1 >= minimum
        free = jnp.sum(now.present) - team.limits.smallest
        if process.per == "agent":
            own = draw.slots[:, 0]
            return _Wish(stayed & (own < leave), own < join, free, jnp.asarray(team.slots))
        leaving, joining = burst(draw.team[0], draw.team[1], leave), burst(draw.team[2], draw.team[3], join)
        return _Wish(stayed, jnp.ones(team.slots, bool), jnp.minimum(leaving, free), joining)

    return wish


@_wishes.register
def _in_spans(process: Spans, team: _Team, key: PRNGKeyArray) -> _Wishes:
    del key
    may_leave = jnp.arange(team.slots) >= process.stay

    def span(chance: Float[Array, " slot"], shortest: int, longest: int) -> Int[Array, " slot"]:
        return shortest + (chance * (longest - shortest + 1)).astype(jnp.int32)

    def wish(now: _Now, draw: _Draw) -> _Wish:
        del draw
        waited = now.waited + 1
        leaving = (waited >= span(now.chance, *process.present)) & may_leave
        joining = waited >= span(now.chance, *process.away)
        free = jnp.sum(now.present) - team.limits.smallest
        return _Wish(leaving, joining, free, jnp.asarray(team.slots))

    return wish


def _looked_up(table: Sequence[Any], team_size: int | Int[Array, ""]) -> Int[Array, "..."]:
    """The row of a team's size: worked out for all sizes beforehand, because a team's is data."""
    return jnp.asarray(np.array(table, np.int32))[team_size]
