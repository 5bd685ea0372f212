"""What stays fixed during an update: values, advantages, targets and teacher contexts, cut into sequences."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pc3d.experiment.experiment import Experiment
from pc3d.learners.distillation import reading_of, teacher_health
from pc3d.learners.ppo.advantages import Departures, generalised_advantages
from pc3d.learners.ppo.learner import PpoLearner
from pc3d.learners.ppo.sequences import SequencePlan, Sequences
from pc3d.learners.ppo.settings import ppo_of
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.context_health import Measures, Standard
from pc3d.networks.critics import TeamView
from pc3d.networks.talking_actor import TalkingActor
from pc3d.play.choosing import acting_of
from pc3d.play.episode import Episode
from pc3d.play.links import teammates_heard
from pc3d.play.presence import joined
from pc3d.tasks.task import Game


class Prepared(eqx.Module):
    """What the epochs need, computed once, and what is known of teacher and messages before them."""

    scale: ValueScale
    """After these episodes."""
    sequences: Sequences
    health: Measures
    """Of the teacher, and of what agents told each other."""
    standard: Standard | None
    """What the students' contexts will be held against."""


def prepare(
    experiment: Experiment, task: Game, learner: PpoLearner, episodes: Episode, plan: SequencePlan
) -> Prepared:
    """Value the episodes, judge every decision, ask the teacher, and cut all of it into sequences."""
    seen = jnp.where(episodes.present[..., None], episodes.observations, 0)
    fresh = joined(episodes.present) if task.roster_changes else None
    features = _features(learner, plan, seen, fresh, episodes)
    values = learner.networks.critic(TeamView(seen, episodes.present, features, episodes.global_states))
    scale, targets, advantages = _judged(experiment, task, learner, episodes, values)
    ahead = experiment.recipe.distil_next
    told = slice(1, None) if ahead else slice(None, -1)
    reading = reading_of(experiment, learner.averaged_teacher, seen[:, told], episodes.present[:, told])
    decisions = jnp.asarray(episodes.present[:, :-1] & episodes.played[:, :, None])
    health, standard = teacher_health(reading, decisions)
    talking = isinstance(learner.networks.actor, TalkingActor)
    nothing = learner.networks.actor.first_memory(episodes.present.shape[-1])
    states = episodes.global_states
    sequences = Sequences(
        first_memory=plan.first_memories(features, nothing),
        observations=plan.cut(seen[:, :-1]),
        global_states=None if states is None else plan.cut(states[:, :-1]),
        present=plan.cut_presence(episodes.present[:, :-1]),
        fresh=None if fresh is None else plan.cut(fresh[:, :-1]),
        played=plan.cut(episodes.played),
        actions=plan.cut(episodes.actions),
        log_probabilities=plan.cut(_log_probabilities(learner, seen[:, :-1], fresh, episodes)),
        advantages=plan.cut(advantages),
        value_targets=plan.cut(targets),
        values=plan.cut(values[:, :-1]),
        teacher_contexts=None if reading is None else plan.cut(reading.contexts),
        teammates=None if standard is None else plan.cut(standard.teammates),
        allowed=None if episodes.allowed is None else plan.cut(episodes.allowed[:, :-1]),
        links=plan.cut(episodes.kept["links"]) if talking else None,
    )
    if talking:
        health |= messages_health(episodes, decisions)
    return Prepared(scale, sequences, health, standard)


def messages_health(episodes: Episode, decisions: Bool[Array, "episode time agent"]) -> Measures:
    """How many teammates agents hear, and how much they listen to themselves."""
    return {
        "teammates_heard": jnp.mean(teammates_heard(episodes.kept["links"]), where=decisions),
        "attention_to_self": jnp.mean(episodes.kept["attention_to_self"], where=decisions),
    }


def _features(
    learner: PpoLearner, plan: SequencePlan, seen: Array, fresh: Array | None, episodes: Episode
) -> Float[Array, "episode moment agent h"] | None:
    """What the actor remembered at each moment: for a local critic, and where sequences start in between."""
    actor = learner.networks.actor
    if not learner.networks.critic.local and plan.pieces == 1:
        return None
    if episodes.kept is None:
        return actor.over_episodes(seen, fresh)
    # What is remembered in a slot that nobody fills comes of whatever was seen there.
    remembered = jnp.where(episodes.present[:, :-1, :, None], episodes.kept["memory"], 0)
    before = remembered[:, -1]
    if fresh is not None:
        before = jnp.where(fresh[:, -1, :, None], 0, before)
    last = actor.recall(before, seen[:, -1])
    return jnp.concatenate([remembered, last[:, None]], axis=1)


def _log_probabilities(
    learner: PpoLearner, seen: Array, fresh: Array | None, episodes: Episode
) -> Float[Array, "episode time agent"]:
    """How likely each action was when it was chosen, as the team kept it; else the actor is asked again."""
    if episodes.kept is not None:
        return episodes.kept["log_probability"]
    actor = learner.networks.actor
    features = actor.over_episodes(seen, None if fresh is None else fresh[:, :-1])
    policy = learner.networks.says(features, TeamView(seen, jnp.asarray(episodes.present[:, :-1])))
    allowed = None if episodes.allowed is None else episodes.allowed[:, :-1]
    return acting_of(actor).distribution(policy.logits, allowed).log_probability(episodes.actions)


def _judged(
    experiment: Experiment, task: Game, learner: PpoLearner, episodes: Episode, values: Array
) -> tuple[ValueScale, Float[Array, "episode time *agent"], Float[Array, "episode time agent"]]:
    """How good each decision was, and what the critic should have said: on the critic's own scale."""
    recipe, local = experiment.recipe, learner.networks.critic.local
    real_values = learner.value_scale.stretch(values) if recipe.normalise_values else values
    departures = None
    if local and task.roster_changes:
        departures = jax.vmap(Departures.of)(real_values, episodes.present)
    advantages = _advantages(experiment, episodes, real_values, departures, local=local)
    targets = advantages + real_values[:, :-1]
    decisions = episodes.present[:, :-1] & episodes.played[:, :, None]
    scale = learner.value_scale.follow(
        targets, decisions if local else episodes.played, recipe.value_statistics_rate
    )
    if recipe.normalise_values:
        targets = scale.shrink(targets)
    if not local:
        advantages = jnp.broadcast_to(advantages[:, :, None], decisions.shape)
    if recipe.normalise_advantages:
        advantages = _normalised(experiment, advantages, decisions, scale)
    return scale, targets, advantages


def _advantages(
    experiment: Experiment, episodes: Episode, values: Array, departures: Departures | None, *, local: bool
) -> Array:
    """Advantages of the shared team reward, per step, or per step and agent for local values."""
    ppo, rewards = ppo_of(experiment), episodes.rewards
    if experiment.recipe.reward_per_agent:
        rewards = rewards / episodes.team_size[:, None]

    def of_one(
        values: Array, departures: Departures | None, rewards: Array, played: Array, terminated: Array
    ) -> Array:
        return generalised_advantages(
            rewards,
            values,
            played,
            terminated,
            ppo.discount,
            ppo.gae_lambda,
            horizon_bootstraps=experiment.recipe.horizon_bootstraps,
            departures=departures,
        )

    per_agent = jax.vmap(of_one, in_axes=(1, 1, None, None, None), out_axes=1) if local else of_one
    return jax.vmap(per_agent)(values, departures, rewards, episodes.played, episodes.terminated)


def _normalised(
    experiment: Experiment, advantages: Array, decisions: Bool[Array, "episode time agent"], scale: ValueScale
) -> Float[Array, "episode time agent"]:
    """Around zero, and divided by their own deviation or by the running one of value targets."""
    running = experiment.recipe.advantage_deviation == "running"
    deviation = scale.deviation if running else jnp.std(advantages, where=decisions)
    return (advantages - jnp.mean(advantages, where=decisions)) / (deviation + 1e-8)
