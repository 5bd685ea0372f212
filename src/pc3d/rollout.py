"""Whole episodes, played side by side, as padded and masked records for the learner and the judge."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.networks.actor import Actor
from pc3d.tasks.task import AnyTask, Game, Outcome


class Episode(eqx.Module):
    """One episode; the learner holds many, with an episode axis before all others."""

    team_size: Int[Array, ""]
    active: Bool[Array, " agent"]
    observations: Float[Array, "moment agent observation"]  # one more than steps: what came after the last
    actions: Int[Array, "time agent"]
    log_probabilities: Float[Array, "time agent"]
    rewards: Float[Array, " time"]  # zero after the end
    played: Bool[Array, " time"]  # false after the end
    terminated: Bool[Array, " time"]  # the step that ended the game
    total_reward: Float[Array, ""]
    measures: dict[str, Float[Array, ""]]
    global_states: Float[Array, "moment state"] | None


def play(
    task: AnyTask,
    actor: Actor,
    key: PRNGKeyArray,
    team_size: Int[Array, ""],
    *,
    greedy: bool = False,
    with_global_state: bool = False,
) -> Episode:
    """Play one episode with the actor in every slot; vmap it over keys and team sizes."""
    draws = draws_of(task, key)
    state = task.reset(draws.start, team_size)
    first = _Moment(state, actor.first_memory(task.slots), jnp.asarray(True))

    def step(now: _Moment, drawn: tuple[PRNGKeyArray, Array]) -> tuple[_Moment, _Step]:
        step_key, chances = drawn
        observations = task.observe(now.state)
        memory, policy = actor.step(now.memory, observations)
        actions, log_probabilities = choose(policy.logits, chances, greedy=greedy)
        state, outcome = task.step(step_key, now.state, actions)
        seen = _Step(
            observations=observations,
            actions=actions,
            log_probabilities=log_probabilities,
            played=now.going,
            outcome=outcome,
            global_state=task.global_state(now.state) if with_global_state else None,
        )
        going = now.going & ~(outcome.terminated | outcome.truncated)
        return _Moment(state, memory, going), seen

    last, steps = jax.lax.scan(step, first, (draws.steps, draws.chances))
    last_state = task.global_state(last.state)[None] if with_global_state else None
    return _record(task, team_size, steps, task.observe(last.state), last_state)


class Draws(eqx.Module):
    """All that is random in an episode, whoever plays it and in whichever world."""

    start: PRNGKeyArray
    steps: PRNGKeyArray  # one key per step
    chances: Float[Array, "time agent"]  # each chooses one action


def draws_of(task: Game, key: PRNGKeyArray) -> Draws:
    """The draws of the episode with this key."""
    start_key, world_key, action_key = jax.random.split(key, 3)
    return Draws(start_key, jax.random.split(world_key, task.horizon), action_chances(action_key, task))


def action_chances(key: PRNGKeyArray, task: Game) -> Float[Array, "time agent"]:
    """The uniform draws that choose every action of an episode.

    Drawn slot by slot (JAX numbers the draws along the last axis), so that a wider world changes none.
    """
    return jax.random.uniform(key, (task.slots, task.horizon)).T


def choose(
    logits: Float[Array, "... action"], chances: Float[Array, "..."], *, greedy: bool = False
) -> tuple[Int[Array, "..."], Float[Array, "..."]]:
    """The action each draw stands for (or the likeliest), and its log-probability."""
    log_probabilities = jax.nn.log_softmax(logits)
    if greedy:
        actions = jnp.argmax(logits, axis=-1)
    else:
        passed = chances[..., None] >= jnp.cumsum(jnp.exp(log_probabilities), axis=-1)
        # Rounding can leave the last sum a little below 1, and a draw above it.
        actions = jnp.minimum(jnp.sum(passed, axis=-1), logits.shape[-1] - 1)
    return actions, log_probability_of(log_probabilities, actions)


def log_probability_of(
    log_probabilities: Float[Array, "... action"], actions: Int[Array, "..."]
) -> Float[Array, "..."]:
    """The entry of the action taken; a comparison, because gathers are slow to differentiate on a CPU."""
    taken = actions[..., None] == jnp.arange(log_probabilities.shape[-1])
    return jnp.sum(jnp.where(taken, log_probabilities, 0), axis=-1)


class _Moment(eqx.Module):
    """What is carried from step to step."""

    state: eqx.Module
    memory: Float[Array, "agent h"]
    going: Bool[Array, ""]


class _Step(eqx.Module):
    """What one step leaves behind."""

    observations: Float[Array, "agent observation"]
    actions: Int[Array, " agent"]
    log_probabilities: Float[Array, " agent"]
    played: Bool[Array, ""]
    outcome: Outcome
    global_state: Float[Array, " state"] | None


def _record(
    task: AnyTask, team_size: Array, steps: _Step, last_observations: Array, last_state: Array | None
) -> Episode:
    rewards = jnp.where(steps.played, steps.outcome.reward, 0)
    states = None
    if steps.global_state is not None and last_state is not None:
        states = jnp.concatenate([steps.global_state, last_state])
    return Episode(
        team_size=team_size,
        active=jnp.arange(task.slots) < team_size,
        observations=jnp.concatenate([steps.observations, last_observations[None]]),
        actions=steps.actions,
        log_probabilities=steps.log_probabilities,
        rewards=rewards,
        played=steps.played,
        terminated=steps.outcome.terminated & steps.played,
        total_reward=jnp.sum(rewards),
        measures={name: jnp.sum(value, where=steps.played) for name, value in steps.outcome.measures.items()},
        global_states=states,
    )
