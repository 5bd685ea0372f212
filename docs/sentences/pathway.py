"""RWARE without the pathway, and without distillation: what is lost, and when learning takes off."""

from __future__ import annotations

from docs.sentences.deliveries import TASK, as_much
from docs.sentences.facts import BACKBONE, Facts, NotKnown
from docs.sentences.recovery import (
    are_closer,
    constant_is_closer,
    is_personal,
    is_recovered,
    is_supported,
)
from docs.sentences.words import at_least, by_split, fraction, gathered, named, ordinal, percent
from pc3d.experiment.methods import OURS
from pc3d.report.names import SPLITS
from pc3d.report.prose import at_sizes, listed, number, number_of_seeds

IN_EARNEST = 5  # deliveries an episode
NEVER = 99  # a stage that no curriculum has
WITHOUT = {"gate-off": "the pathway", "a-mappo": "distillation"}  # what an ablation lacks
HARDLY = 0.1


def reason(facts: Facts) -> str:
    """Whether the paper's reason is supported here, beside the other tasks."""
    if is_supported(facts, TASK):
        return "supported"
    either = ", either" if not any(is_supported(facts, task) for task in facts.whole_studies) else ""
    return f"not supported{either}"


def differ(facts: Facts) -> str:
    """The teacher's contexts, between teammates."""
    return "differ" if is_personal(facts, TASK) else "hardly differ"


def carried(facts: Facts) -> str:
    """What the actors' contexts are."""
    if is_recovered(facts, TASK):
        return "the teacher's context"
    aside = " (the best constant is closer)" if constant_is_closer(facts, TASK) else ""
    return f"not the teacher's context{aside}"


def ablations(facts: Facts) -> str:
    """What is left without the pathway, or without distillation."""
    counts = [facts.seeds(TASK, method) for method in WITHOUT]
    each = f"{number_of_seeds(counts[0])} each"
    seeds = each if len(set(counts)) == 1 else f"{listed(map(number, counts))} seeds"
    keep = "keep" if len(_can_be_missing(facts)) == len(WITHOUT) else "do not both keep"
    return (
        f"both ablations that were run, {seeds}, {keep} most of the lead: a policy that trained with the "
        f"gate always off delivers {as_much(facts, 'gate-off')} as much, and A-MAPPO, without distillation, "
        f"{as_much(facts, 'a-mappo')}"
    )


def can_be_missing(facts: Facts) -> str:
    """What follows from it for most of the lead."""
    parts = _can_be_missing(facts)
    if len(parts) == len(WITHOUT):
        return "one of the two, the pathway or distillation, can be missing"
    return (
        f"only {parts[0]} can be missing" if parts else "neither the pathway nor distillation can be missing"
    )


def lost(facts: Facts) -> str:
    """What forcing the gate shut takes away, by split."""
    words = {split: fraction(share) for split, share in _lost(facts).items()}
    return (
        f"{needs(facts)} its pathway: with the gate forced shut its deliveries fall by "
        f"{by_split(words, ' and ')}"
    )


def needs(facts: Facts) -> str:
    return "hardly needs" if min(_lost(facts).values()) < HARDLY else "needs"


def most_are_lost(facts: Facts) -> str:
    shares = _lost(facts).values()
    return (
        "most deliveries are lost" if min(shares) > 0.5 else f"{percent(shares)} of the deliveries are lost"
    )


def a_mappo_when_shut(facts: Facts) -> str:
    """The same of A-MAPPO, beside MAPPO."""
    less = [
        split for split in SPLITS if facts.shut(TASK, "a-mappo", split) < facts.mean(TASK, BACKBONE, split)
    ]
    theirs, ours = (_lost(facts, method).values() for method in ("a-mappo", OURS))
    more = "even more" if min(theirs) > max(ours) else "no more"
    place = "" if len(less) in (0, len(SPLITS)) else f" {at_sizes(less)}"
    amount = "less" if less else "no less"
    return f"needs its pathway {more}: with the gate forced shut it delivers {amount} than MAPPO{place}"


def recovered_with_the_gate_off(facts: Facts) -> str:
    """Where the policy cannot use the context."""
    if not is_recovered(facts, TASK, "gate-off"):
        return f"does not recover its context{', either' * (not is_recovered(facts, TASK))}."
    least = min(facts.context(TASK, "gate-off", split, "variance_explained") for split in SPLITS)
    away = (
        " PC3D's own actors end further away, perhaps because the policy's gradient reaches their contexts."
        if are_closer(facts, TASK, "gate-off", [OURS])
        else ""
    )
    return (
        "does recover a part: its context is closer to its own teacher's than the best constant is, and than "
        f"to its teammates', and explains more than {at_least(least)} of the variance. So much can be told "
        f"from local history there.{away}"
    )


def own_or_teammates(facts: Facts) -> str:
    """Whether an actor's context is its own."""
    beyond = [
        facts.context(TASK, OURS, split, "alignment")
        - facts.context(TASK, OURS, split, "alignment_with_teammates")
        for split in SPLITS
    ]
    if min(beyond) <= 0:
        return "no closer to its own teacher's"
    return f"{'a little ' if max(beyond) < HARDLY else ''}closer to its own teacher's"


def take_off(facts: Facts) -> str:
    """From which stage on each method delivers in earnest."""
    starts = _starts(facts)
    stages = gathered((stage, method) for method, stage in starts.items())
    parts = [
        f"{listed(map(named, stages[stage]))} from the {ordinal(stage)} stage on ({_episode(facts, stage)})"
        for stage in sorted(stages)
        if stage != NEVER
    ]
    never = [f"{listed(map(named, stages[NEVER]))} in none"] if NEVER in stages else []
    return listed([*parts, *never], ", and ")


def conclusion(facts: Facts) -> str:
    """What that says about pathway and distillation; nothing where it would not follow."""
    starts = _starts(facts)
    if not {OURS, BACKBONE, "pic", *WITHOUT} <= set(starts):
        raise NotKnown
    if max(starts[method] for method in (OURS, *WITHOUT)) >= min(starts[BACKBONE], starts["pic"]):
        return ""
    off, undistilled = (" later" * (starts[method] > starts[OURS]) for method in WITHOUT)
    return (
        f"So learning takes off{off} without the pathway, and{undistilled} without distillation: with the "
        "critic that these three share, one of the two is enough. Whether the critic alone would be, no run "
        "here tells; PIC-MAPPO's critic, which takes a mean over the team, is not."
    )


def value_loss(facts: Facts) -> str:
    """Whether a low value loss goes with deliveries; nothing where it does."""
    starts = _starts(facts)
    if not {OURS, "pic"} <= set(starts):
        raise NotKnown
    pic, ours = (facts.by_stage(TASK, method, "loss_value")[1] for method in ("pic", OURS))
    if pic > ours or starts["pic"] <= starts[OURS]:
        return ""
    return (
        "How low the value loss is does not tell: in the first stage, PIC-MAPPO's was no higher than PC3D's, "
        "each relative to the spread of its own targets, and it took off later."
    )


def _starts(facts: Facts) -> dict[str, int]:
    """The first stage of every method with many deliveries an episode."""
    found = {method: facts.by_stage(TASK, method) for method in facts.methods(TASK)}
    if not found:
        raise NotKnown
    return {
        method: min((stage for stage, mean in stages.items() if mean >= IN_EARNEST), default=NEVER)
        for method, stages in found.items()
    }


def _episode(facts: Facts, stage: int) -> str:
    """The one that a stage begins with."""
    experiment = next(run.experiment for run in facts.runs.all if run.experiment.task == TASK)
    return f"episode {(0, *experiment.curriculum.boundaries(experiment.episodes))[stage - 1]:,}"


def _can_be_missing(facts: Facts) -> list[str]:
    """Of pathway and distillation, those without which most of the lead over MAPPO is there."""
    return [
        part
        for method, part in WITHOUT.items()
        if all(facts.kept(TASK, split, facts.mean(TASK, method, split)) > 0.5 for split in SPLITS)
    ]


def _lost(facts: Facts, method: str = OURS) -> dict[str, float]:
    """The share of a method's deliveries that is gone with its gate forced shut."""
    means = {split: facts.mean(TASK, method, split) for split in SPLITS}
    if min(means.values()) <= 0:
        raise NotKnown
    return {split: 1 - facts.shut(TASK, method, split) / mean for split, mean in means.items()}
