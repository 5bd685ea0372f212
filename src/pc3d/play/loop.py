"""The one loop of play: worlds show, the team decides, the worlds step; wherever either of them runs.

Compiled, it is a scan; with worlds or teams on the host, a loop in Python over the same step.
"""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from pc3d.experiment.action_space import ActionSpace
from pc3d.play.conducted_team import ConductedTeam
from pc3d.play.episode import Draws, Episode, draws_of
from pc3d.play.links import links_kept
from pc3d.play.rota import Rota, rota_of
from pc3d.play.talking_team import TalkingTeam
from pc3d.play.team import Decision, Memory, Team, View
from pc3d.play.worlds import State, Worlds
from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.task import Outcome


def play(
    worlds: Worlds,
    team: Team,
    keys: Key[Array, " episode"],
    team_sizes: Int[AnyArray, " episode"],
    *,
    rota: Rota | None = None,
    with_global_state: bool = False,
) -> Episode:
    """Play the episodes of these keys to their ends, all in one program; by a rota if one is given."""
    draws, rota = draws_of(worlds.game, keys), rota or rota_of(worlds.game, keys, team_sizes)
    kept = _links(worlds, team, keys)
    going = jnp.ones(len(team_sizes), bool)
    first = _beginning(worlds, team, draws.start, team_sizes, going, rota)
    step = partial(_moment, worlds, team, team.step, with_global_state)
    last, steps = jax.lax.scan(step, first, _by_time(draws, rota, kept))
    ending = _Ending(
        worlds.observe(last.state),
        worlds.present(last.state),
        worlds.global_state(last.state) if with_global_state else None,
        worlds.allowed(last.state),
    )
    episodes = _episodes(
        jnp,
        worlds.game.action_space,
        team_sizes,
        jax.tree.map(lambda part: jnp.moveaxis(part, 0, 1), steps),
        ending,
    )
    if worlds.game.roster_changes:
        return episodes
    # Said once, not moment by moment: so sums over who is there are compiled as sums over a constant roster.
    constant = jnp.broadcast_to(first.present[:, None], episodes.present.shape)
    return eqx.tree_at(lambda one: one.present, episodes, constant)


def play_on_host(
    worlds: Worlds,
    team: Team,
    keys: Key[Array, " episode"],
    team_sizes: Int[np.ndarray, " episode"],
    *,
    rota: Rota | None = None,
) -> Episode:
    """The same, moment by moment: with the same draws the same team plays the same episodes.

    Nothing is kept of a compiled team's decisions: a learner works it out at once, faster than step by step.
    """
    draws, drawn_rota = _drawn(worlds.game, keys, team_sizes)
    rota = rota or drawn_rota
    by_time = _by_time(draws, rota, _links(worlds, team, keys))
    decide = partial(_decided, team) if isinstance(team, eqx.Module) else team.step
    step = partial(_moment, worlds, team, decide, False)
    now = _beginning(worlds, team, draws.start, team_sizes, np.ones(len(team_sizes), bool), rota)
    steps: list[_Step] = []
    for time in range(worlds.game.horizon):
        now, seen = step(now, jax.tree.map(lambda values, at=time: values[at], by_time))
        steps.append(jax.device_get(seen))
        if not now.going.any():
            break
    ending = jax.device_get(
        _Ending(worlds.observe(now.state), worlds.present(now.state), None, worlds.allowed(now.state))
    )
    missing = worlds.game.horizon - len(steps)
    steps += [_nothing(steps[-1], ending)] * missing
    together: _Step = jax.tree.map(lambda *parts: np.stack(parts, axis=1), *steps)
    sizes: Any = np.asarray(team_sizes, np.int32)
    return _episodes(np, worlds.game.action_space, sizes, together, ending)


class _Now(eqx.Module):
    """What is carried from moment to moment."""

    state: State
    memory: Memory
    going: Bool[AnyArray, " episode"]
    present: Bool[AnyArray, "episode agent"]  # a moment ago


class _Drawn(eqx.Module):
    """What was drawn for a moment beforehand; over time before the loop takes it apart."""

    keys: Key[Array, "*time episode"]
    chances: Float[AnyArray, "..."]
    fresh: Bool[AnyArray, "*time episode agent"] | None
    following: Bool[AnyArray, "*time episode agent"] | None  # who is there after the step
    links: Bool[AnyArray, "*time episode agent agent"] | None  # which are not lost, where some are


class _Step(eqx.Module):
    """What one step leaves behind."""

    observations: Float[AnyArray, "episode agent observation"]
    present: Bool[AnyArray, "episode agent"]
    decision: Decision
    played: Bool[AnyArray, " episode"]
    outcome: Outcome
    global_state: Float[AnyArray, "episode state"] | None
    allowed: Bool[AnyArray, "episode agent action"] | None


class _Ending(eqx.Module):
    """The moment after the last step."""

    observations: Float[AnyArray, "episode agent observation"]
    present: Bool[AnyArray, "episode agent"]
    global_state: Float[AnyArray, "episode state"] | None
    allowed: Bool[AnyArray, "episode agent action"] | None


Decide = Callable[[Memory, View, Array], tuple[Memory, Decision]]


def _links(worlds: Worlds, team: Team, keys: Key[Array, " episode"]) -> Array | None:
    """Which links are not lost, of a team that loses any."""
    if not isinstance(team, TalkingTeam | ConductedTeam):
        return None
    return links_kept(team.loss, keys, worlds.game.slots, worlds.game.horizon)


def _by_time(draws: Draws, rota: Rota | None, links: Array | None) -> _Drawn:
    if rota is None:
        return _Drawn(draws.steps, draws.chances, None, None, links)
    fresh, present = (jnp.moveaxis(jnp.asarray(part), 1, 0) for part in (rota.fresh, rota.present))
    return _Drawn(draws.steps, draws.chances, fresh[:-1], present[1:], links)


def _beginning(worlds: Worlds, team: Team, keys: Any, team_sizes: Any, going: Any, rota: Rota | None) -> _Now:
    state = worlds.begin(keys, team_sizes, None if rota is None else rota.present[:, 0])
    return _Now(state, team.first(len(team_sizes), worlds.game.slots), going, worlds.present(state))


def _moment(
    worlds: Worlds,
    team: Team,
    decide: Decide,
    with_global_state: bool,
    now: _Now,
    drawn: _Drawn,
) -> tuple[_Now, _Step]:
    observations, present = worlds.observe(now.state), worlds.present(now.state)
    joined = drawn.fresh
    if joined is None and worlds.game.roster_changes:
        joined = present & ~now.present
    states = now.state if team.execution.privileged else None
    allowed = worlds.allowed(now.state)
    links = worlds.visible(now.state) if team.execution.by_sight else None
    if links is not None and drawn.links is not None:
        links = links & drawn.links
    coached = team.execution.coached
    whole = worlds.global_state(now.state) if with_global_state or coached else None
    view = View(observations, present, joined, states, allowed, links, whole if coached else None)
    memory, decision = decide(now.memory, view, drawn.chances)
    state, outcome = worlds.step(now.going, drawn.keys, now.state, decision.actions, drawn.following)
    seen = _Step(
        observations=observations,
        present=present,
        decision=decision,
        played=now.going,
        outcome=outcome,
        global_state=whole if with_global_state else None,
        allowed=allowed,
    )
    going = now.going & ~(outcome.terminated | outcome.truncated)
    return _Now(state, memory, going, present), seen


def _nothing(like: _Step, ending: _Ending) -> _Step:
    """A step after every episode has ended: nobody decides, and the last views stay."""
    blank: _Step = jax.tree.map(np.zeros_like, like)
    return eqx.tree_at(
        lambda step: (step.observations, step.present), blank, (ending.observations, ending.present)
    )


def _episodes(
    numbers: ModuleType, space: ActionSpace, team_sizes: AnyArray, steps: _Step, ending: _Ending
) -> Episode:
    """The record of steps over (episode, time); `numbers` is the library whose arrays these are."""

    def while_played(values: AnyArray) -> Any:
        return numbers.where(steps.played, values, 0)

    def with_ending(values: AnyArray, last: AnyArray) -> Any:
        return numbers.concatenate([values, last[:, None]], axis=1)

    rewards = while_played(steps.outcome.reward).astype(numbers.float32)
    states = None
    if steps.global_state is not None and ending.global_state is not None:
        states = with_ending(steps.global_state, ending.global_state)
    masks = None
    if steps.allowed is not None and ending.allowed is not None:
        masks = with_ending(steps.allowed, ending.allowed)
    return Episode(
        team_size=team_sizes,
        present=with_ending(steps.present, ending.present),
        observations=with_ending(steps.observations, ending.observations),
        actions=steps.decision.actions.astype(space.dtype),
        kept=steps.decision.kept,
        rewards=rewards,
        played=steps.played,
        terminated=steps.outcome.terminated & steps.played,
        total_reward=rewards.sum(axis=1),
        measures={name: while_played(values).sum(axis=1) for name, values in steps.outcome.measures.items()},
        global_states=states,
        allowed=masks,
    )


@partial(jax.jit, static_argnums=0)
def _drawn(game: Any, keys: Key[Array, " episode"], team_sizes: Array) -> tuple[Draws, Rota | None]:
    return draws_of(game, keys), rota_of(game, keys, team_sizes)


@jax.jit
def _decided(team: Any, memory: Memory, view: View, chances: Array) -> tuple[Memory, Decision]:
    memory, decision = team.step(memory, view, chances)
    return memory, Decision(decision.actions)
