"""How much of the teacher's contexts students recover, beside what guesses would reach."""

import numpy as np
from jaxtyping import Bool, Float

from pc3d.evaluation.recording import cosine, directions

Contexts = Float[np.ndarray, "episode time agent context"]
Decisions = Bool[np.ndarray, "episode time agent"]


def recovery(students: Contexts, teachers: Contexts, decisions: Decisions) -> dict[str, float | None]:
    """Means over the decisions made by whole teams; None where a question has no answer.

    A cosine alone says little: contexts of one teacher resemble each other, so that a student who always
    says the same, or who speaks for a teammate, is aligned, too. And where the teacher has the same context
    for all agents of a team, there is nothing personal to recover.
    """
    student, teacher = students[decisions], teachers[decisions]
    spread = np.sum((teacher - teacher.mean(axis=0)) ** 2)
    return {
        "alignment": float(np.mean(cosine(student, teacher))),
        # The best constant points to the mean direction, and its mean cosine is that mean's length.
        "alignment_of_a_constant": float(np.linalg.norm(directions(teacher).mean(axis=0))),
        "alignment_with_teammates": _with_teammates(students, teachers, decisions),
        "variance_explained": float(1 - np.sum((student - teacher) ** 2) / spread) if spread > 0 else None,
        "personal_share": _personal_share(teachers, decisions, spread),
    }


def _personal_share(teachers: Contexts, decisions: Decisions, spread: float) -> float | None:
    """How much of the variance of the teacher's contexts lies between the agents of a team at one moment."""
    if decisions.shape[-1] == 1 or not spread > 0:
        return None
    from_the_teams = teachers - teachers.mean(axis=-2, keepdims=True)
    return float(np.sum(from_the_teams[decisions] ** 2) / spread)


def _with_teammates(students: Contexts, teachers: Contexts, decisions: Decisions) -> float | None:
    """The cosine to the contexts that the teacher had for the others; nobody alone has any."""
    others = decisions.shape[-1] - 1
    if not others:
        return None
    own = directions(teachers)
    of_others = own.sum(axis=-2, keepdims=True) - own
    cosines = np.sum(directions(students) * of_others, axis=-1) / others
    return float(np.mean(cosines, where=decisions))
