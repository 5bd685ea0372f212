"""Episodes played on the host, step by step and side by side, for whatever a compiled program cannot hold:
worlds of Python objects, and scripted players.

Draws are those of `rollout.play`, so that the same policy plays the same episodes here and there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt

from pc3d.errors import BadInput
from pc3d.hosted.crew import Crew
from pc3d.networks.actor import Actor
from pc3d.rollout import Episode, choose, draws_of, log_probability_of
from pc3d.tasks.task import Game, Outcome

Observations = Float[np.ndarray, "episode agent observation"]
Actions = Int[np.ndarray, "episode agent"]
Keys = UInt[np.ndarray, "episode 2"]  # the raw numbers of random keys


class Worlds(Protocol):
    """Several episodes side by side, padded to the game's slots."""

    def observations(self) -> Observations: ...
    def states(self) -> list[Any]: ...
    def step(self, going: Bool[np.ndarray, " episode"], keys: Keys, actions: Actions) -> Outcome: ...


Begin = Callable[[Game, Keys, Int[np.ndarray, " episode"]], Worlds]  # from starting keys and team sizes


class Team(Protocol):
    """Whoever acts in all of them."""

    def act(self, worlds: Worlds, chances: Float[np.ndarray, "episode agent"]) -> Actions: ...


def play_in_lockstep(
    game: Game, keys: PRNGKeyArray, team_sizes: Int[np.ndarray, " episode"], begin: Begin, team: Team
) -> Episode:
    """Play the episodes of these keys to their ends; the record has an episode axis before all others.

    Log-probabilities are left at zero: only a learner needs them, and `with_log_probabilities` adds them.
    """
    start_keys, step_keys, chances = map(np.asarray, _draws(game, keys))
    worlds = begin(game, start_keys, team_sizes)
    going = np.ones(len(team_sizes), bool)
    views, actions, outcomes, played = [worlds.observations()], [], [], []
    for time in range(game.horizon):
        actions.append(team.act(worlds, chances[:, time]))
        outcomes.append(worlds.step(going, step_keys[:, time], actions[-1]))
        views.append(worlds.observations())
        played.append(going)
        going = going & ~(outcomes[-1].terminated | outcomes[-1].truncated)
        if not going.any():
            break
    return _episodes(game, team_sizes, views, actions, outcomes, played)


def with_log_probabilities(actor: Actor, episodes: Episode) -> Episode:
    """The record of what this actor played, with how likely each of its actions was."""
    seen = episodes.observations[:, :-1]
    policy = actor.conditioning(actor.remember(actor.first_memory(*episodes.active.shape), seen))
    likely = log_probability_of(jax.nn.log_softmax(policy.logits), episodes.actions)
    return replace(episodes, log_probabilities=likely)


class ActorTeam:
    """A trained actor in every slot, with its memories."""

    def __init__(self, actor: Actor, *, greedy: bool = False) -> None:
        self._actor, self._greedy = actor, greedy
        self._memory: Float[Array, "episode agent h"] | None = None

    def act(self, worlds: Worlds, chances: Float[np.ndarray, "episode agent"]) -> Actions:
        observations = jnp.asarray(worlds.observations(), jnp.float32)
        if self._memory is None:
            self._memory = self._actor.first_memory(*chances.shape)
        self._memory, actions = _decide(self._greedy, self._actor, self._memory, observations, chances)
        return np.asarray(actions)


class CrewWorlds:
    """Worlds that live in worker processes. After an episode's end its last views stay."""

    def __init__(self, crew: Crew, game: Game, keys: Keys, team_sizes: Int[np.ndarray, " episode"]) -> None:
        self._crew, self._measure_names = crew, game.measure_names
        self._taken = np.arange(game.slots) < team_sizes[:, None]
        self._views = np.zeros((*self._taken.shape, game.observation_width), np.float32)
        views = crew.begin(keys, team_sizes)
        if views.shape[-1] != game.observation_width:
            raise BadInput(
                f"{game.name} now shows {views.shape[-1]} numbers to an agent, but this policy was made for "
                f"{game.observation_width}"
            )
        self._views[self._taken] = views

    def observations(self) -> Observations:
        return self._views.copy()

    def states(self) -> list[Any]:
        raise NotImplementedError("what worlds on the host look like inside is their own business")

    def step(self, going: Bool[np.ndarray, " episode"], keys: Keys, actions: Actions) -> Outcome:
        stepped = self._crew.step(going, keys, actions)
        self._views[self._taken & going[:, None]] = stepped.views
        measures = zip(self._measure_names, stepped.measures.T, strict=True)
        return Outcome(
            reward=_spread_out(going, stepped.rewards),
            terminated=_spread_out(going, stepped.terminated),
            truncated=_spread_out(going, stepped.truncated),
            measures={name: _spread_out(going, values) for name, values in measures},
        )


def on_host(crew: Crew) -> Begin:
    """Begin episodes in the worlds of a crew."""
    return partial(CrewWorlds, crew)


def _spread_out(going: Bool[np.ndarray, " episode"], values: np.ndarray) -> Any:
    """Values of the going episodes in the places of all; zero or false elsewhere."""
    everywhere = np.zeros(len(going), values.dtype)
    everywhere[going] = values
    return everywhere


def _episodes(
    game: Game,
    team_sizes: Int[np.ndarray, " episode"],
    views: list[Observations],
    actions: list[Actions],
    outcomes: list[Outcome],
    played: list[Bool[np.ndarray, " episode"]],
) -> Episode:
    """The same record as the compiled rollout's, filled up to the horizon."""
    missing = game.horizon - len(outcomes)

    def over_time(values: list[Any], fill: str = "constant") -> Any:
        stacked = np.stack(values, axis=1)
        return np.pad(stacked, [(0, 0), (0, missing)] + [(0, 0)] * (stacked.ndim - 2), fill)  # type: ignore[call-overload]

    going, chosen = over_time(played), over_time(actions).astype(np.int32)
    rewards = np.where(going, over_time([outcome.reward for outcome in outcomes]), 0).astype(np.float32)
    measures = {
        name: np.where(going, over_time([outcome.measures[name] for outcome in outcomes]), 0).sum(axis=1)
        for name in game.measure_names
    }
    return Episode(
        team_size=np.asarray(team_sizes, np.int32),
        active=np.arange(game.slots) < team_sizes[:, None],
        observations=over_time(views, "edge"),
        actions=chosen,
        log_probabilities=np.zeros(chosen.shape, np.float32),
        rewards=rewards,
        played=going,
        terminated=over_time([outcome.terminated for outcome in outcomes]) & going,
        total_reward=rewards.sum(axis=1),
        measures=measures,
        global_states=None,
    )


@partial(jax.jit, static_argnums=0)
def _draws(game: Game, keys: PRNGKeyArray) -> tuple[Array, Array, Array]:
    draws = jax.vmap(partial(draws_of, game))(keys)
    return jax.random.key_data(draws.start), jax.random.key_data(draws.steps), draws.chances


@partial(jax.jit, static_argnums=0)
def _decide(
    greedy: bool, actor: Actor, memory: Array, observations: Array, chances: Array
) -> tuple[Float[Array, "episode agent h"], Int[Array, "episode agent"]]:
    memory, policy = actor.step(memory, observations)
    actions, _ = choose(policy.logits, chances, greedy=greedy)
    return memory, actions
