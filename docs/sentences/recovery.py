"""Contexts: whether actors recover them, and whether there is anything of an agent's own to recover."""

from __future__ import annotations

from collections.abc import Iterable

from docs.sentences.facts import Facts, NotKnown
from docs.sentences.words import percent, where
from pc3d.experiment.methods import OURS
from pc3d.report.names import SPLITS
from pc3d.report.prose import listed, on_tasks

PERSONAL = 0.05  # of the teacher's variance between teammates; below it, contexts hardly differ
TO_SPEAK_OF = 0.005
MOST = 0.5
LEAD = "most of the lead over MAPPO"
# The halves of the mechanism, by the ablations that lack one.
WITHOUT = {"gate-off": "a policy that never used them", "a-mappo": "one that was never taught them"}
LOSERS = f"policies that never used them, or were never taught them, lose {LEAD}"


def reason(facts: Facts) -> str:
    """Whether what the paper says about contexts is so on the tasks that were run in full."""
    truths = {task: is_supported(facts, task) for task in _with_contexts(facts, facts.whole_studies)}
    return f"{where(truths, 'supported', 'not supported')}{_on_all(truths)}"


def because(facts: Facts) -> str:
    """What speaks for and against it."""
    tasks = _with_contexts(facts, facts.whole_studies)
    verdicts = {task: facts.verdicts(task, OURS, "gate-on").values() for task in tasks}
    worse = {task: "better" in " ".join(found) for task, found in verdicts.items()}
    clauses = (
        where(
            {task: is_personal(facts, task) for task in tasks},
            "The contexts differ between teammates",
            "The contexts hardly differ between teammates",
        ),
        where(
            {task: is_recovered(facts, task) for task in tasks},
            "actors recover them",
            "actors do not recover them",
        ),
        _without_it(facts, tasks) or LOSERS,
        f"a policy whose gate is always open {where(worse, 'does worse', 'does no worse')}",
    )
    settled = all(is_supported(facts, task) for task in tasks)
    return f"{listed(clauses, ', and ')}." + ("" if settled else " What the reason is, remains open.")


def without_recovery(facts: Facts) -> str:
    """The same in one sentence, as the README has it."""
    tasks = _with_contexts(facts, facts.whole_studies)
    recovered = where(
        {task: is_recovered(facts, task) for task in tasks},
        "PC3D's actors recover their contexts from local history",
        "PC3D's actors do not recover their contexts from local history",
    )
    personal = where(
        {task: is_personal(facts, task) for task in tasks},
        "the teacher's contexts differ between the agents of a team",
        "the teacher's contexts hardly differ between the agents of a team",
    )
    aside = (
        " (always giving the same answer would be closer to the teacher; with another reading of the "
        "distillation loss, short runs do better)"
        if all(constant_is_closer(facts, task) for task in tasks)
        else ""
    )
    head = where({task: is_supported(facts, task) for task in tasks}, "supported", "**not** supported")
    keepers = _without_it(facts, tasks)
    tail = f", but {keepers}" if keepers else f", and {LOSERS}"
    return f"{head}: {recovered}{aside}, and {personal}{tail}"


def not_recovered(facts: Facts) -> str:
    """What the measures say on all tasks."""
    tasks = _with_contexts(facts, facts.runs.tasks)
    places = [(task, split) for task in tasks for split in SPLITS]
    lower = [own < constant for own, constant in (_cosines(facts, *place) for place in places)]
    below = [facts.context(task, OURS, split, "variance_explained") < 0 for task, split in places]
    found = {task: is_recovered(facts, task) for task in tasks}
    head = where(found, "**the context is recovered**", "**the context is not recovered**")
    cosine = "the cosine of PC3D's actors is lower than that of the best constant"
    if all(lower) and all(below):
        return (
            f"{head} in these runs: {cosine}, on all tasks and splits, and the variance explained is below "
            "zero"
        )
    return (
        f"{head} in these runs: {cosine} on {_count(lower)} splits of the tasks, and the variance explained "
        f"is below zero on {_count(below)}"
    )


def own_to_recover(facts: Facts) -> str:
    """Whether contexts are personal, where they are not."""
    tasks = _with_contexts(facts, facts.runs.tasks)
    alike = [task for task in tasks if not is_personal(facts, task)]
    if not alike:
        return ""
    nor = "there is little" if any(is_recovered(facts, task) for task in alike) else "nor is there much"
    return (
        f"On {on_tasks(alike)}, **{nor} of an agent's own to recover**: nearly all of the variance of the "
        "teacher's contexts lies between moments, and hardly any between the agents of a team. They are a "
        "code for the state of the team. (So that an actor's context is as close to its teammates' as to its "
        "own says nothing about the actor.) The equations allow it: all agents' contexts are weighted means "
        "of the same few tokens, and the weights come from plain products of encodings and tokens."
    )


def closest(facts: Facts) -> str:
    """Where the policy cannot use the context, and where it must."""
    known = _with_contexts(facts, facts.runs.tasks)
    off = {
        task: are_closer(facts, task, "gate-off", set(facts.with_contexts(task)) - {"gate-off"})
        for task in known
    }
    short = [task for task in known if constant_is_closer(facts, task, "gate-off")]
    but = "yet" if any(off.values()) else "and"
    nearest = where(
        off, "the actor comes closest to the teacher", "the actor does not come closest to the teacher"
    )
    if not short:
        return nearest
    return f"{nearest}, {but} on {on_tasks(short)} its cosine stays below the constant's on every split"


def furthest(facts: Facts) -> str:
    """Where it must, and what follows for the gain in return."""
    tasks = _with_contexts(facts, facts.whole_studies)
    away = {task: are_closer(facts, task, OURS, ["gate-on"]) for task in tasks}
    better = all(
        facts.mean(task, "gate-on", split) > facts.mean(task, OURS, split)
        for task in tasks
        for split in SPLITS
    )
    returns = ", with better returns" if better else ""
    ends = f"{where(away, 'it ends further away', 'it ends no further away')}{returns}."
    if any(is_recovered(facts, task) for task in tasks):
        return ends
    return (
        f"{ends} So little of the teacher's context is in the actor's that PC3D's gain in return is unlikely "
        "to come from it."
    )


def personal(facts: Facts, task: str) -> str:
    """Whether contexts are personal to each agent."""
    shares = [
        float(share) for split in SPLITS for share in facts.contexts(task, OURS, split, "personal_share")
    ]
    if is_personal(facts, task):
        return (
            f"in part: {percent(shares)} of the teacher's variance, by seed and split, lies between teammates"
        )
    if max(shares) < TO_SPEAK_OF:
        return "**no**: the teacher's do not differ between teammates to speak of"
    return "**no**: the teacher's hardly differ between teammates"


def recovered(facts: Facts, task: str) -> str:
    """Whether actors recover their contexts."""
    if is_recovered(facts, task):
        return "yes: they are closer to the teacher's than the best constant is"
    unused = "gate-off" in facts.with_contexts(task) and is_recovered(facts, task, "gate-off")
    but = "; but where the gate is always off they do in part" if unused else ""
    if constant_is_closer(facts, task):
        return f"**no**: the best constant is closer to the teacher's{but}"
    return f"**no**, not on all splits{but}"


def is_recovered(facts: Facts, task: str, method: str = OURS) -> bool:
    """Closer to the own teacher's context than a constant and than to teammates' contexts, everywhere."""
    names = ("alignment", "alignment_of_a_constant", "alignment_with_teammates", "variance_explained")
    found = [[facts.context(task, method, split, name) for name in names] for split in SPLITS]
    return all(own > max(constant, others) and explained > 0 for own, constant, others, explained in found)


def is_personal(facts: Facts, task: str, method: str = OURS) -> bool:
    return all(facts.context(task, method, split, "personal_share") >= PERSONAL for split in SPLITS)


def is_needed(facts: Facts, task: str) -> bool:
    """Whether most of the lead is gone on every split without either half of the mechanism."""
    return all(_keeps_most(facts, task, method) is False for method in WITHOUT)


def is_supported(facts: Facts, task: str) -> bool:
    """Contexts that nobody needs are not what the lead comes from, however well they are recovered."""
    return is_personal(facts, task) and is_recovered(facts, task) and is_needed(facts, task)


def _keeps_most(facts: Facts, task: str, method: str) -> bool | None:
    """Of the lead over the backbone, on some split; None where there are no such runs, or no lead."""
    try:
        return any(facts.kept(task, split, facts.mean(task, method, split)) > MOST for split in SPLITS)
    except NotKnown:
        return None


def _without_it(facts: Facts, tasks: list[str]) -> str | None:
    """Who keeps most of the lead without a half of the mechanism, and where; None if nobody does."""
    found = {
        who: [task for task in tasks if _keeps_most(facts, task, method)] for method, who in WITHOUT.items()
    }
    places = {
        who: "" if len(where) == len(tasks) else f" (on {on_tasks(where)})"
        for who, where in found.items()
        if where
    }
    if not places:
        return None
    verb = "keeps" if len(places) == 1 else "keep"
    return f"{listed(who + place for who, place in places.items())} {verb} {LEAD}"


def _with_contexts(facts: Facts, tasks: Iterable[str]) -> list[str]:
    """Those of the tasks on which PC3D's contexts were measured."""
    found = [task for task in tasks if OURS in facts.with_contexts(task)]
    if not found:
        raise NotKnown
    return found


def _on_all(truths: dict[str, bool]) -> str:
    """The tasks, where all are alike."""
    return f" on {on_tasks(truths)}" if len(set(truths.values())) == 1 else ""


def _cosines(facts: Facts, task: str, split: str, method: str = OURS) -> tuple[float, float]:
    """The actor's and the best constant's."""
    own, constant = (
        facts.context(task, method, split, name) for name in ("alignment", "alignment_of_a_constant")
    )
    return own, constant


def constant_is_closer(facts: Facts, task: str, method: str = OURS) -> bool:
    return all(own < constant for own, constant in (_cosines(facts, task, split, method) for split in SPLITS))


def are_closer(facts: Facts, task: str, first: str, others: Iterable[str]) -> bool:
    """Whether one method's actors are closer to their teacher than those of others, on every split."""
    return all(
        _cosines(facts, task, split, first)[0] > _cosines(facts, task, split, other)[0]
        for other in others
        for split in SPLITS
    )


def _count(truths: list[bool]) -> str:
    return f"{sum(truths)} of {len(truths)}"
