"""The main table in sentences: levels beside the paper's, PC3D's leads, and how sure they are."""

from __future__ import annotations

from docs.sentences.facts import RIVALS, Facts, NotKnown
from docs.sentences.words import count_of, gathered, named, of_task
from pc3d.experiment.methods import OURS
from pc3d.report.names import SPLITS
from pc3d.report.paper_numbers import MAIN, published_returns
from pc3d.report.prose import at_sizes, listed, number, on_tasks
from pc3d.report.tables.comparisons import LEVEL


def levels(facts: Facts) -> str:
    """Every method beside the paper's, on all tasks and splits that both have."""
    above = {
        (task, method, split): facts.mean(task, method, split) > facts.printed(task, method, split)
        for task in facts.runs.tasks
        for method in facts.methods(task)
        for split in SPLITS
        if published_returns(method, task, split)
    }
    if not above:
        raise NotKnown
    if all(above.values()):
        return "Every method's mean is above the paper's on every split."
    if not any(above.values()):
        return "No method's mean is above the paper's on any split."
    below = gathered((place[:2], place[2]) for place, true in above.items() if not true)
    exceptions = (f"{named(method)} {of_task(task, splits)}" for (task, method), splits in below.items())
    return (
        f"Of {len(above)} means {sum(above.values())} are above the paper's; "
        f"not those of {listed(exceptions)}."
    )


def seeds_of_whole_studies(facts: Facts) -> str:
    """What the sentences on all of them rest on."""
    tasks = _whole(facts)
    counts = {facts.seeds(task, method) for task in tasks for method in MAIN}
    return f"{'at least ' * (len(counts) > 1)}{number(min(counts))} seeds of {on_tasks(tasks)}"


def best_in_the_table(facts: Facts) -> str:
    """On how many splits; in the paper it is every one."""
    best = [is_best(facts, task, split) for task in _whole(facts) for split in SPLITS]
    tasks = on_tasks(_whole(facts))
    if all(best):
        return f"has the best mean of the four methods on every split of {tasks}, as in the paper"
    count = count_of(sum(best), len(best))
    return f"has the best mean of the four methods on {count} splits of {tasks} (in the paper on every one)"


def survivors(facts: Facts) -> str:
    """The leads that stand after correction for the number of comparisons."""
    found = {task: _of_rivals(facts, task, "better") for task in _whole(facts)}
    leads = [
        f"over {named(rival)} {of_task(task, splits)}"
        for task, by_rival in found.items()
        for rival, splits in by_rival.items()
    ]
    if not leads:
        return "none of its leads is unlikely to be chance"
    without = [task for task, by_rival in found.items() if not by_rival]
    rest = f"; on {on_tasks(without)} no lead survives the correction" if without else ""
    which = f"leads {listed(leads)} are" if len(leads) > 1 else f"lead {leads[0]} is"
    return f"its {which} unlikely to be chance{rest}"


def always_open(facts: Facts) -> str:
    """The ablation whose gate is always open; the paper has it behind PC3D everywhere."""
    columns = [(task, split) for task in _whole(facts) for split in SPLITS]
    ahead = [
        (task, split)
        for task, split in columns
        if facts.mean(task, "gate-on", split) > facts.mean(task, OURS, split)
    ]
    if not ahead:
        every = count_of(len(columns), len(columns))
        return f"has a worse mean than PC3D on {every} splits, as in the paper"
    sure, hints = (_places(facts, ahead, word) for word in ("worse", "hint: worse"))
    certain = [f"more than chance {sure}"] if sure else []
    hinted = [f"with a hint of more than chance {hints} only"] if hints else []
    certainty = ", ".join(certain + hinted) or "which may be chance"
    count = count_of(len(ahead), len(columns))
    return f"has a better mean than PC3D on {count} splits ({certainty}); in the paper it is worse"


def _places(facts: Facts, columns: list[tuple[str, str]], word: str) -> str:
    """Where the table of claims has this word for PC3D against it."""
    found = gathered(
        (task, split) for task, split in columns if facts.verdicts(task, OURS, "gate-on")[split] == word
    )
    return listed(of_task(task, splits) for task, splits in found.items()) if found else ""


def lead(facts: Facts, task: str) -> str:
    """PC3D against the three others of the main table, in a sentence or two."""
    better, hints = (_of_rivals(facts, task, word) for word in ("better", "hint: better"))
    best = [split for split in SPLITS if is_best(facts, task, split)]
    if better:
        parts = [f"PC3D is better {_with('than', better)}.", _hint(hints), _not_best(best)]
    elif not best:
        parts = ["PC3D has the best mean of the four methods on no split."]
    else:
        place = "" if len(best) == len(SPLITS) else f" {at_sizes(best)} only"
        parts = [f"PC3D has the best mean of the four methods{place}; {_how_sure(hints)}."]
    worse, hints_of_worse = (_of_rivals(facts, task, word) for word in ("worse", "hint: worse"))
    if worse:
        parts.append(f"It is worse {_with('than', worse)}.")
    if hints_of_worse:
        parts.append(f"There is a hint that it is worse {_with('than', hints_of_worse)}.")
    return " ".join(filter(None, parts))


def is_best(facts: Facts, task: str, split: str) -> bool:
    """Whether PC3D's is the best mean of the four methods."""
    return facts.mean(task, OURS, split) > max(facts.mean(task, rival, split) for rival in RIVALS)


def _whole(facts: Facts) -> list[str]:
    if not facts.whole_studies:
        raise NotKnown
    return facts.whole_studies


def _not_best(best: list[str]) -> str:
    if len(best) == len(SPLITS):
        return ""
    if not best:
        return "Its mean is the best of the four on no split."
    return (
        f"Its mean is not the best of the four {at_sizes([split for split in SPLITS if split not in best])}."
    )


def _how_sure(hints: dict[str, list[str]]) -> str:
    if not hints:
        return "these seeds cannot tell it from chance"
    against = listed(
        named(rival) + ("" if len(splits) == len(SPLITS) else f" {at_sizes(splits)}")
        for rival, splits in hints.items()
    )
    return f"there is a hint that this is more than chance against {against} only"


def _hint(hints: dict[str, list[str]]) -> str:
    if not hints:
        return ""
    return (
        f"For its lead {_with('over', hints, ', and ')}, there is a hint (p is below {LEVEL:g}, but not "
        "after correction for the number of comparisons)."
    )


def _with(word: str, by_rival: dict[str, list[str]], last: str = " and ") -> str:
    """Each rival with the splits that are meant."""
    return listed((f"{word} {named(rival)} {at_sizes(splits)}" for rival, splits in by_rival.items()), last)


def _of_rivals(facts: Facts, task: str, word: str) -> dict[str, list[str]]:
    """The splits on which the table of claims has this word, by rival."""
    return gathered(
        (rival, split)
        for rival in RIVALS
        for split, verdict in facts.verdicts(task, OURS, rival).items()
        if verdict == word
    )
