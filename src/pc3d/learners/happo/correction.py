"""How others have changed since the episodes were played: HAPPO's factor before an advantage."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pc3d.learners.ppo.sequences import Sequences
from pc3d.networks.actor import Actor
from pc3d.networks.context_health import Measures
from pc3d.play.choosing import acting_of

LOW, HIGH = 5, 95  # percentiles


def changes_of(actor: Actor, sequences: Sequences) -> Float[Array, "sequence time agent"]:
    """ℓ_j = log π(a_j) − log π_old(a_j) of every decision; zero where nobody decided."""
    fresh = None if sequences.fresh is None else _by_time(sequences.fresh)
    features = actor.remember(sequences.first_memory, _by_time(sequences.observations), fresh)
    allowed = None if sequences.allowed is None else _by_time(sequences.allowed)
    distribution = acting_of(actor).distribution(actor.says(features).logits, allowed)
    taken = _by_time(distribution.log_probability(_by_time(sequences.actions)))
    return jnp.where(sequences.decisions, taken - sequences.log_probabilities, 0)


def joint_ratio(
    changes: Float[Array, "sequence time agent"], others: Bool[Array, "sequence agent"]
) -> Float[Array, "sequence time"]:
    """exp Σ_j ℓ_j over these agents: how much likelier their actions have become, all together."""
    return jnp.exp(jnp.sum(jnp.where(others[:, None], changes, 0), axis=-1))


def limited(ratio: Float[Array, "..."], limit: float) -> Float[Array, "..."]:
    """The factor: a product over a team's other members, kept within [1/c, c]."""
    return jnp.clip(ratio, 1 / limit, limit)


def correction_measures(
    ratio: Float[Array, "sequence time"], learned_from: Bool[Array, "sequence time"], limit: float
) -> Measures:
    """How far factors are from 1 before the limit, and how many of them it stops; NaN where none is used."""
    real = jnp.where(learned_from, ratio, jnp.nan)
    low, high = jnp.nanpercentile(real, jnp.array([LOW, HIGH]))
    return {
        "correction_low": low,
        "correction_high": high,
        "correction_limited": jnp.mean(limited(ratio, limit) != ratio, where=learned_from),
    }


def _by_time(values: Array) -> Array:
    """From (sequence, time, ...) to (time, sequence, ...), and back."""
    return jnp.moveaxis(values, 1, 0)
