"""The objective of whole sequences with their empty slots: what pieces without them must add up to."""

import jax.numpy as jnp

from pc3d.learners.ppo import losses
from pc3d.learners.ppo.losses import Counts
from pc3d.learners.ppo.packing import Piece


def by_time(values):
    """From (sequence, time, ...) to (time, sequence, ...)."""
    return None if values is None else jnp.moveaxis(values, 1, 0)


def padded(batch):
    """All sequences as one piece whose rows are the slots, filled or not."""
    return Piece(
        first_memory=batch.first_memory,
        observations=by_time(jnp.where(batch.present[..., None], batch.observations, 0)),
        fresh=by_time(batch.fresh),
        decisions=by_time(batch.decisions),
        actions=by_time(batch.actions),
        log_probabilities=by_time(batch.log_probabilities),
        advantages=by_time(batch.advantages),
        teacher_contexts=by_time(batch.teacher_contexts),
        teammates=by_time(batch.teammates),
        present=by_time(batch.present),
        played=by_time(batch.played),
        global_states=by_time(batch.global_states),
        value_targets=by_time(batch.value_targets),
        values=by_time(batch.values),
        seating=None,
        links=by_time(batch.links),
    )


def counts_of(batch):
    return Counts(jnp.sum(batch.decisions).astype(float), jnp.sum(batch.played).astype(float))


def objective(networks, batch, experiment):
    return losses.objective(networks, padded(batch), experiment, counts_of(batch))


def features_of(actor, batch):
    """What the actor remembers at every moment of the sequences, over (sequence, time, agent)."""
    seen, fresh = by_time(batch.observations), by_time(batch.fresh)
    return by_time(actor.remember(batch.first_memory, seen, fresh))
