"""Is there something personal to learn from a teacher, and do students learn it?

The same measures while training, in JAX, and in evaluation, in NumPy: whose arrays come, whose numbers go.
All are means over the decisions made; NaN where a question has no answer, as nobody alone has teammates.
"""

from math import log, nan
from types import ModuleType
from typing import Any

import equinox as eqx
from jaxtyping import Bool, Float, Shaped

from pc3d.networks.teacher import Reading
from pc3d.tasks.arrays import AnyArray

Contexts = Float[AnyArray, "*moment agent context"]
Decisions = Bool[AnyArray, "*moment agent"]
Measures = dict[str, Any]  # single numbers


def attention_health(reading: Reading, decisions: Decisions) -> Measures:
    """How flat both attentions are, as entropies relative to a uniform one's, and how many tokens there are.

    Where the tokens' attention is flat, all of them are the team's mean; where the agents' is, all contexts
    are the mean of the tokens: then nothing is personal.
    """
    numbers, count = _library(reading.tokens), reading.tokens.shape[-2]
    team = numbers.sum(decisions, axis=-1)
    uniform = numbers.log(numbers.where(team > 1, team, 2))
    of_agents = numbers.mean(_entropy(reading.over_agents, axis=-2), axis=-1) / uniform
    of_tokens = _entropy(reading.over_tokens, axis=-1) / (log(count) if count > 1 else nan)
    return {
        "attention_over_agents": _mean(of_agents, team > 1),
        "attention_over_tokens": _mean(of_tokens, decisions),
        "effective_tokens": _mean(effective_number(reading.tokens), team > 0),
    }


def effective_number(vectors: Float[AnyArray, "*moment token context"]) -> Float[AnyArray, "*moment"]:
    """1 if all of them point the same way, as many as there are if no two have anything in common."""
    numbers, along = _library(vectors), directions(vectors)
    cosines = numbers.einsum("...kd,...ld->...kl", along, along)
    return vectors.shape[-2] ** 2 / numbers.maximum(numbers.sum(cosines**2, axis=(-2, -1)), 1)


class Standard(eqx.Module):
    """What students are measured against: all of it follows from the teacher's contexts alone."""

    teammates: Contexts
    """The mean direction of the teammates' contexts; zero for somebody alone."""
    made: Any
    """How many decisions were made,"""
    shared: Any
    """and how many of them with teammates."""
    spread: Any
    """The sum of squares of the contexts about their mean."""
    constant: Any
    """The mean cosine that a student reaches who always says the same."""
    personal: Any
    """The share of the spread that lies between teammates."""


def recovery(students: Contexts, teachers: Contexts, decisions: Decisions) -> Measures:
    """How much of the teacher's contexts students recover, beside what guesses would reach.

    A cosine alone says little: contexts of one teacher resemble each other, so that a student who always
    says the same, or who speaks for a teammate, is aligned, too. And where the teacher has the same context
    for all agents of a team, there is nothing personal to recover.
    """
    standard = standard_of(teachers, decisions)
    return recovered(student_sums(students, teachers, standard.teammates, decisions), standard)


def standard_of(teachers: Contexts, decisions: Decisions) -> Standard:
    """The standard that these contexts set."""
    numbers = _library(teachers)
    teachers = numbers.where(decisions[..., None], teachers, 0)
    ways, team = directions(teachers), numbers.sum(decisions, axis=-1)[..., None]
    shared = decisions & (team > 1)
    others = numbers.where(team > 1, team - 1, 1)[..., None]
    of_others = (numbers.sum(ways, axis=-2, keepdims=True) - ways) / others
    return Standard(
        teammates=numbers.where(shared[..., None], of_others, 0),
        made=numbers.sum(decisions),
        shared=numbers.sum(shared),
        spread=_spread(teachers, decisions),
        # The best constant points to the mean direction, and its mean cosine is that mean's length.
        constant=numbers.sqrt(numbers.sum(_mean_vector(ways, decisions) ** 2)),
        personal=_ratio(_squares(_from_the_team(teachers, team), shared), _spread(teachers, shared)),
    )


def student_sums(
    students: Contexts, teachers: Contexts, teammates: Contexts, decisions: Decisions
) -> Measures:
    """What adds up over parts of the decisions, in any order and in any company."""
    numbers, made = _library(students), decisions[..., None]
    students, teachers = numbers.where(made, students, 0), numbers.where(made, teachers, 0)
    return {
        "aligned": numbers.sum(cosine(students, teachers)),
        "aligned_with_teammates": numbers.sum(
            numbers.sum(directions(students) * numbers.where(made, teammates, 0), axis=-1)
        ),
        "missed": numbers.sum((students - teachers) ** 2),
    }


def recovered(sums: Measures, standard: Standard) -> Measures:
    """The students' sums over all decisions, held against the standard."""
    return {
        "alignment": _ratio(sums["aligned"], standard.made),
        "alignment_of_a_constant": standard.constant,
        "alignment_with_teammates": _ratio(sums["aligned_with_teammates"], standard.shared),
        "variance_explained": 1 - _ratio(sums["missed"], standard.spread),
        "personal_share": standard.personal,
    }


def cosine(one: Contexts, other: Contexts) -> Float[AnyArray, "*moment agent"]:
    """Of the angle between two vectors; 0 where one of them is zero."""
    return _library(one).sum(directions(one) * directions(other), axis=-1)


def directions(vectors: Float[AnyArray, "... context"]) -> Float[AnyArray, "... context"]:
    """The vectors with length 1; zeros stay what they are."""
    numbers = _library(vectors)
    lengths = numbers.sqrt(numbers.sum(vectors**2, axis=-1, keepdims=True))
    return vectors / numbers.where(lengths > 0, lengths, 1)


def _from_the_team(teachers: Contexts, team: Shaped[AnyArray, "*moment 1"]) -> Contexts:
    """What each context has that the team's mean has not; those of the absent are zero."""
    numbers = _library(teachers)
    return teachers - numbers.sum(teachers, axis=-2, keepdims=True) / numbers.maximum(team, 1)[..., None]


def _spread(vectors: Contexts, real: Decisions) -> Any:
    """The sum of squares about the mean of those that are real."""
    return _squares(vectors - _mean_vector(vectors, real), real)


def _squares(vectors: Contexts, real: Decisions) -> Any:
    numbers = _library(vectors)
    return numbers.sum(numbers.where(real[..., None], vectors**2, 0))


def _mean_vector(vectors: Contexts, real: Decisions) -> Float[AnyArray, " context"]:
    numbers = _library(vectors)
    total = numbers.sum(numbers.where(real[..., None], vectors, 0), axis=tuple(range(vectors.ndim - 1)))
    return total / numbers.maximum(numbers.sum(real), 1)


def _entropy(chances: Float[AnyArray, "..."], axis: int) -> Float[AnyArray, "..."]:
    numbers = _library(chances)
    return -numbers.sum(chances * numbers.log(numbers.where(chances > 0, chances, 1)), axis=axis)


def _mean(values: Float[AnyArray, "..."], real: Bool[AnyArray, "..."]) -> Any:
    numbers = _library(values)
    return _ratio(numbers.sum(numbers.where(real, values, 0)), numbers.sum(real))


def _ratio(part: Any, whole: Any) -> Any:
    """NaN, and no warning, of nothing."""
    numbers = _library(part)
    return numbers.where(whole > 0, part / numbers.where(whole > 0, whole, 1), nan)


def _library(values: Any) -> ModuleType:
    return values.__array_namespace__()
