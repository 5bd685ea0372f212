"""From the averaged teacher to students, for all algorithms: the loss, and how the teacher is."""

from collections.abc import Mapping
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import method_named
from pc3d.learners.experience import decisions_of, said_by, seen_in
from pc3d.learners.optimiser import Left, left_of
from pc3d.networks.build import Networks
from pc3d.networks.conditioning import PolicyOutput
from pc3d.networks.context_health import (
    Measures,
    Standard,
    attention_health,
    recovered,
    standard_of,
    student_sums,
)
from pc3d.networks.teacher import Reading, Teacher
from pc3d.play.episode import Episode

FLAT = 0.98  # of a uniform attention's entropy
LOOKED_INTO = 8  # episodes from a replay, for how the teacher is and what students know of it


def huber(error: Float[Array, "..."], delta: float) -> Float[Array, "..."]:
    """Quadratic near zero, linear beyond delta.

    Not optax's, whose gradient is rounded otherwise: no recorded run would be made again to the bit.
    """
    size = jnp.abs(error)
    return jnp.where(size <= delta, 0.5 * error**2, delta * (size - 0.5 * delta))


def reduced(
    apart: Float[Array, "... context"], reduction: Literal["mean", "root", "sum"]
) -> Float[Array, "..."]:
    """What a whole context costs, from what its numbers do."""
    if reduction == "mean":
        return jnp.mean(apart, axis=-1)
    return jnp.sum(apart, axis=-1) / (apart.shape[-1] ** 0.5 if reduction == "root" else 1)


def weight_of(experiment: Experiment, left: Left = 1.0) -> Left:
    """λ_distill when so much of the run is left, or nothing for a method that does not distil."""
    weight = experiment.distillation.weight if method_named(experiment.method).distils else 0.0
    final = experiment.distillation.final_share
    return weight if final == 1 else weight * (final + (1 - final) * left)


def left_to_fade(experiment: Experiment, update: Int[Array, ""]) -> Left:
    """How much of the run is left, where that changes anything: else programs stay to the bit."""
    return 1.0 if experiment.distillation.final_share == 1 else left_of(experiment, update)


def reading_of(
    experiment: Experiment,
    teacher: Teacher | None,
    seen: Float[Array, "... agent observation"],
    present: Bool[Array, "... agent"],
) -> Reading | None:
    """What the averaged teacher has for everybody: constants for the student."""
    if not method_named(experiment.method).has_context or teacher is None:
        return None
    return jax.lax.stop_gradient(teacher.read(seen, present))


def distance_from_teacher(
    experiment: Experiment,
    now: PolicyOutput,
    teacher: Teacher | None,
    seen: Float[Array, "episode moment agent observation"],
    present: Bool[Array, "episode time agent"],
) -> Float[Array, "episode time agent"]:
    """How far the students' contexts are from the averaged teacher's, in episodes from a replay."""
    recipe = experiment.recipe
    reading = reading_of(experiment, teacher, seen[:, :-1], present)
    if now.context is None or reading is None:
        return jnp.zeros(present.shape)
    return reduced(huber(now.context[:, :-1] - reading.contexts, recipe.huber_delta), recipe.huber_reduction)


def context_health(
    experiment: Experiment, networks: Networks, slow: Networks, episodes: Episode, *, roster_changes: bool
) -> Measures:
    """How the averaged teacher is before an update from a replay, and what students know of it."""
    some = jax.tree.map(lambda values: values[:LOOKED_INTO], episodes)
    seen, decisions = seen_in(some), decisions_of(some)
    reading = reading_of(
        experiment, slow.critic.held_teacher, seen[:, :-1], jnp.asarray(some.present[:, :-1])
    )
    health, standard = teacher_health(reading, decisions)
    if reading is None or standard is None:
        return {}
    said = said_by(networks.actor, some, seen, roster_changes=roster_changes).context
    if said is None:
        return {}
    sums = student_sums(said[:, :-1], reading.contexts, standard.teammates, decisions)
    return {**recovered(sums, standard), **health}


def teacher_health(
    reading: Reading | None, decisions: Bool[Array, "... agent"]
) -> tuple[Measures, Standard | None]:
    """How the teacher is, and what students can be held against."""
    if reading is None:
        return {}, None
    return attention_health(reading, decisions), standard_of(reading.contexts, decisions)


def flat_attention(line: Mapping[str, Any]) -> str | None:
    """A teacher whose attention is flat has the same context for everybody, if there is anybody else."""
    agents, tokens = line.get("attention_over_agents"), line.get("attention_over_tokens", 0)
    if agents is None or max(agents, tokens) < FLAT:
        return None
    return (
        f"the teacher's attention is flat: its entropy is {agents:.3f} of the greatest over agents, "
        f"{tokens:.3f} over tokens, so its contexts hardly differ between teammates; "
        "--critic.normalise-encodings True sharpens it"
    )
