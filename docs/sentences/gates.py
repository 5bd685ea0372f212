"""Gates: how open they are, what forcing them does in play, and what is left of the lead without them."""

from __future__ import annotations

import math
from collections.abc import Callable

from docs.sentences.facts import BACKBONE, Facts, NotKnown
from docs.sentences.recovery import MOST, is_recovered
from docs.sentences.words import by_split, fraction, gathered, percent
from pc3d.experiment.methods import OURS
from pc3d.report.names import SPLITS
from pc3d.report.prose import at_sizes, listed
from pc3d.report.statistics import mean_of

BEGINNING, NEAR_THE_BEGINNING = 0.5, 0.06  # of a gate whose reliance is zero
NEAR_THE_BOUND = 0.01
FORCED = {"on": "open", "off": "shut"}


def gates(facts: Facts, task: str) -> str:
    """How open they are, and what forcing them does in play."""
    open_by = [facts.context(task, OURS, split, "gate_mean") for split in SPLITS]
    if all(abs(each - BEGINNING) < NEAR_THE_BEGINNING for each in open_by):
        state = f"they stay near the {fraction(BEGINNING)} they begin with"
    else:
        state = f"they are open by {' to '.join(dict.fromkeys(map(fraction, sorted(open_by))))}"
    effects = gathered((_effect(facts, task, gate), word) for gate, word in FORCED.items())
    forced = (f"forcing them {' or '.join(words)} {effect}" for effect, words in effects.items())
    return f"{state}; when the policies act, {listed(forced)}"


def _effect(facts: Facts, task: str, gate: str) -> str:
    """What it does to the same policies from the same starts, by the interval over seeds."""
    return by_split({split: _effect_at(facts, task, gate, split) for split in SPLITS}, " and ")


def _effect_at(facts: Facts, task: str, gate: str, split: str) -> str:
    usual = facts.contexts(task, OURS, split, "return")
    interval = mean_of(facts.contexts(task, OURS, split, f"return_gate_{gate}") - usual).interval
    if interval is None or interval[0] <= 0 <= interval[1]:
        return "changes nothing measurable"
    return "helps" if interval[0] > 0 else "costs"


def gates_at_their_bound(facts: Facts, task: str) -> str:
    """Whether they stand at the largest value that the bound on reliance allows."""
    largest, found = _largest_gate(facts, task), _of_every_seed(facts, task)
    if not _at_the_bound(facts, task):
        head = "zero" if max(found) < NEAR_THE_BOUND else "not zero"
        return (
            f"{head}: they are open by {min(found):.2f} to {max(found):.2f}, of {largest:.2f} that the "
            "printed bound on reliance allows"
        )
    return (
        "not zero, but they do not adapt: they stand within a hundredth of the largest value that the "
        f"printed bound on reliance allows ({largest:.2f})"
    )


def constant_part(facts: Facts, task: str) -> str:
    """What follows, where they stand there; nothing elsewhere."""
    if not _at_the_bound(facts, task):
        return ""
    return (
        "The gate stands at its largest value nearly all the time, so what shutting it takes away may be the "
        "constant part of the pathway."
    )


def kept_without_the_gate(facts: Facts, task: str) -> str:
    """How much of the lead over MAPPO is there without the pathway."""
    never, shut = _kept(facts, task, facts.mean, "gate-off"), _kept(facts, task, facts.shut, OURS)
    if min(shut) > MOST:
        follows = "what the context says in play is a small part of it"
    elif min(never) > MOST:
        follows = "who learned with the context leans on it, and who learned without it hardly misses it"
    else:
        follows = "what the context says in play is a large part of it"
    return (
        f"{percent(never)} of the lead over MAPPO is there if the gate never opens (the critic, and a memory "
        f"that distillation shaped), and {percent(shut)} if PC3D's gate is "
        f"[forced shut](reproduction_contexts.md) only in play: {follows}"
    )


def kept_by_a_mappo(facts: Facts, task: str) -> str:
    """The same of the method that has the pathway and no distillation."""
    kept, shut = (_kept(facts, task, returns, "a-mappo") for returns in (facts.mean, facts.shut))
    but = "but" if max(shut) <= 0 < max(kept) else "and"
    return f"keeps {percent(kept)} of the lead, {but} {percent(shut)} of it with its gate forced shut"


def below_when_shut(facts: Facts, task: str) -> str:
    """Whether the policy needs its pathway."""
    below = [split for split in SPLITS if facts.shut(task, OURS, split) < facts.mean(task, BACKBONE, split)]
    if not below:
        return "PC3D's means stay above MAPPO's with the gate forced shut"
    carried = "" if is_recovered(facts, task) else ", though what that carries is not the teacher's context"
    place = "" if len(below) == len(SPLITS) else f" {at_sizes(below)}"
    return (
        f"PC3D's means fall below MAPPO's{place} with the gate forced shut: there the policy needs its "
        f"pathway{carried}"
    )


def _kept(facts: Facts, task: str, returns: Callable[[str, str, str], float], method: str) -> list[float]:
    """The share of the lead over MAPPO that a method's returns have, by split."""
    return [facts.kept(task, split, returns(task, method, split)) for split in SPLITS]


def _at_the_bound(facts: Facts, task: str) -> bool:
    largest = _largest_gate(facts, task)
    return all(abs(gate - largest) < NEAR_THE_BOUND for gate in _of_every_seed(facts, task))


def _of_every_seed(facts: Facts, task: str) -> list[float]:
    return [float(gate) for split in SPLITS for gate in facts.contexts(task, OURS, split, "gate_mean")]


def _largest_gate(facts: Facts, task: str) -> float:
    for run in facts.runs.finished(task, OURS):
        recipe, bound = run.experiment.recipe, run.experiment.distillation.reliance_max
        return 1 / (1 + math.exp(-(recipe.gate_scale * bound + recipe.gate_offset)))
    raise NotKnown
