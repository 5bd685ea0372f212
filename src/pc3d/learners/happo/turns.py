"""The turns of an update: who learns when, and the epochs of each turn, which are PPO's."""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from pc3d.learners.happo.correction import changes_of, correction_measures, joint_ratio, limited
from pc3d.learners.happo.settings import happo_of
from pc3d.learners.ppo.descent import Course, Descended, Descent, descend, over_epochs
from pc3d.learners.ppo.losses import LossParts
from pc3d.learners.ppo.sequences import SequencePlan, Sequences
from pc3d.networks.build import Networks
from pc3d.networks.context_health import Measures


def descend_in_turns(course: Course, start: Descent) -> Descended:
    """All turns; in each of them those learn whose turn it is, and the critic from everything."""
    settings, sequences = happo_of(course.experiment), course.sequences
    if settings.turns == 1:  # nobody is outside the turn: PPO
        return descend(course, start)
    each = settings.epochs_of_turn
    deal_key = jax.random.fold_in(course.key, settings.turns * each)  # the epochs take those before
    apart = settings.separate_actors
    turns = _of_sequences(deal_key, course.plan, sequences, settings.turns, alike=apart)

    def turn(training: Descent, number: Array) -> tuple[Descent, tuple[LossParts, Array, Measures]]:
        networks = course.unravel(training.parameters)
        changes = changes_of(networks.actor, sequences)
        ratio = joint_ratio(changes, turns != number)
        factor = limited(ratio, settings.correction_limit)[..., None]
        own = replace(sequences, advantages=sequences.advantages * factor, learning=turns == number)
        epochs = number * each + jnp.arange(each)
        moving = _moving(networks, turns[0] == number) if apart else None
        made = over_epochs(replace(course, sequences=own), training, epochs, moving)
        learned_from = jnp.any(own.decisions, axis=-1)
        measures = correction_measures(ratio, learned_from, settings.correction_limit)
        return made.end, (made.losses, made.norms, measures)

    end, (losses, norms, measures) = jax.lax.scan(turn, start, jnp.arange(settings.turns))
    # Everybody is in one turn: sums over agents are added up. And before the first turn nobody has changed.
    students = jax.tree.map(jnp.sum, losses.students)
    means = replace(jax.tree.map(jnp.mean, losses), students=students)
    return Descended(end, means, norms, {name: jnp.nanmean(values[1:]) for name, values in measures.items()})


def deal(key: PRNGKeyArray, there: Bool[Array, "episode agent"], turns: int) -> Int[Array, "episode agent"]:
    """Whose turn is which: everybody who is there in a random order, dealt round, from any turn on."""
    order_key, first_key = jax.random.split(key)
    # Slot by slot, so that a wider world changes no draw.
    chances = jnp.where(there, jax.random.uniform(order_key, there.T.shape).T, 2)
    ranks = jnp.argsort(jnp.argsort(chances, axis=-1), axis=-1)
    # So that small teams are not always in the first turns.
    first = jax.random.randint(first_key, (len(there), 1), 0, turns)
    return (ranks + first) % turns


def _of_sequences(
    key: PRNGKeyArray, plan: SequencePlan, sequences: Sequences, turns: int, *, alike: bool
) -> Int[Array, "sequence agent"]:
    """Dealt by episode, or alike for all; all sequences of an episode have the same turns."""
    slots = sequences.present.shape[-1]
    if alike:
        return jnp.broadcast_to(deal(key, jnp.ones((1, slots), bool), turns), (len(sequences.present), slots))
    by_episode = sequences.present.reshape(plan.episodes, -1, slots)
    return jnp.repeat(deal(key, jnp.any(by_episode, axis=1), turns), plan.pieces, axis=0)


def _moving(networks: Networks, whose: Bool[Array, " slot"]) -> Bool[Array, " parameter"]:
    """Of separate actors, those whose turn it is; and all of the critic."""

    def of_slots(leaf: Array) -> Array:
        return jnp.broadcast_to(whose.reshape(-1, *(1 for _ in leaf.shape[1:])), leaf.shape)

    everything = jax.tree.map(lambda leaf: jnp.ones(leaf.shape, bool), networks.critic)
    return ravel_pytree(Networks(jax.tree.map(of_slots, networks.actor), everything))[0]
