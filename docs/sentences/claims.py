"""The paper's claims, one by one: what stands beside each in the table of those that hold here."""

from __future__ import annotations

import numpy as np

from docs.sentences.facts import BACKBONE, RIVALS, Facts, NotKnown
from docs.sentences.levels import is_best
from docs.sentences.words import by_split, decimal, gathered, named, with_agents
from pc3d.experiment.methods import OURS, family
from pc3d.report.names import SPLITS, task_title
from pc3d.report.paper_numbers import MAIN
from pc3d.report.prose import SIZES, at_sizes, listed, number

OF_OURS = {
    "better": "**better**",
    "hint: better": "a hint",
    "higher": "higher",
    "lower": "lower",
    "hint: worse": "a hint that it is worse",
    "worse": "**worse**",
}
OF_THE_RIVAL = {
    "better": "**worse**",
    "hint: better": "a hint that it is worse",
    "higher": "lower",
    "lower": "higher",
    "hint: worse": "a hint that it is better",
    "worse": "**better**",
}
AHEAD = ("better", "hint: better", "higher")
TIE = 1e-6  # what adding up in another order can make


def against(facts: Facts, task: str, rival: str) -> str:
    """Whether PC3D is better."""
    return _judged(facts, task, rival, OF_OURS)


def ablation(facts: Facts, task: str, method: str) -> str:
    """Whether it is worse than PC3D."""
    return _judged(facts, task, method, OF_THE_RIVAL)


def weaker(facts: Facts, task: str, method: str) -> str:
    """The same, where the paper says that it is weaker."""
    behind = all(word in AHEAD for word in facts.verdicts(task, OURS, method).values())
    return ("" if behind else "**no**: ") + ablation(facts, task, method)


def competitive(facts: Facts, task: str, method: str) -> str:
    """The same, where the paper says that it can compete."""
    beaten = {"better", "hint: better"}.intersection(facts.verdicts(task, OURS, method).values())
    return ("**no**: " if beaten else "competitive: ") + ablation(facts, task, method)


def generalizes_less(facts: Facts, task: str, method: str) -> str:
    """The same, where the paper says that it falls behind on new sizes."""
    train, test = (
        facts.mean(task, OURS, split) - facts.mean(task, method, split) for split in ("train", "test")
    )
    tail = f", and {'' if test > train else 'no '}more so at test sizes" if min(train, test) > 0 else ""
    return f"{ablation(facts, task, method)}{tail}"


def more_than_the_critic(facts: Facts, task: str) -> str:
    """What the gate that is always off lacks, though its critic is the same."""
    verdicts = facts.verdicts(task, OURS, "gate-off")
    lower = [split for split in SPLITS if verdicts[split] in AHEAD]
    hints = [split for split in lower if verdicts[split] == "hint: better"]
    if not lower:
        return "**no**: it is not lower"
    head = "yes" if set(verdicts.values()) == {"better"} else "open"
    place = "" if len(lower) == len(SPLITS) else f" {at_sizes(lower)} only"
    return f"{head}: it is lower{place}" + (f", with a hint {at_sizes(hints)}" if hints else "")


def best_of_four(facts: Facts, task: str) -> str:
    best = [split for split in SPLITS if is_best(facts, task, split)]
    if len(best) == len(SPLITS):
        return "yes"
    return f"{at_sizes(best)} only" if best else "**no**"


def second(facts: Facts, task: str) -> str:
    """Whether PIC-MAPPO is the best of the others."""
    firsts = {split: max(RIVALS, key=lambda rival: facts.mean(task, rival, split)) for split in SPLITS}
    if set(firsts.values()) == {"pic"}:
        return "yes"
    return f"**no**: {by_split({split: f'{named(first)} is' for split, first in firsts.items()})}"


def place_of_ippo(facts: Facts, task: str) -> str:
    """The paper has it above MAPPO on LBF."""
    means = {split: {method: facts.mean(task, method, split) for method in MAIN} for split in SPLITS}
    if all(of_split["ippo"] > of_split[BACKBONE] for of_split in means.values()):
        beside = {split: "above" if of["ippo"] > of["pic"] else "not above" for split, of in means.items()}
        return f"above MAPPO; beside PIC-MAPPO {by_split(beside)}"
    own, others = [of.pop("ippo") for of in means.values()], [sorted(of.values()) for of in means.values()]
    pairs = list(zip(own, others, strict=True))
    far = " by far" if all(rest[0] - ippo > rest[-1] - rest[0] for ippo, rest in pairs) else ""
    last = f"last{far}" if all(ippo < rest[0] for ippo, rest in pairs) else "not above MAPPO on all splits"
    return (
        f"**no**: IPPO is {last}; but eight environments, chosen with MAPPO, leave it "
        f"{facts.updates(task, 'ippo')} updates on {task_title(task).name} against MAPPO's "
        f"{facts.updates(task, BACKBONE)}"
    )


def general(facts: Facts, task: str) -> str:
    """Whether the lead is there at every size, over every rival."""
    leads = {(rival, size): lead for rival in RIVALS for size, lead in facts.leads(task, rival).items()}
    sizes = facts.runs.rosters(task).all
    behind = gathered(place for place, lead in leads.items() if lead <= -TIE)
    if behind:
        agents = {
            rival: "any number of" if len(found) == len(sizes) else listed(map(str, found))
            for rival, found in behind.items()
        }
        places = (f"{named(rival)} with {which} agents" for rival, which in agents.items())
        return f"**no**, by the means: it is behind {listed(places)}"
    ties = [rival for (rival, _), lead in leads.items() if lead < TIE]
    if ties:
        count = f"{number(len(ties))} {'tie' if len(ties) == 1 else 'ties'}"
        return f"yes, by the means, but for {count} with {listed(map(named, dict.fromkeys(ties)))}"
    return "yes, by the means of every size"


def widening(facts: Facts, task: str) -> str:
    """Whether larger teams have a larger lead over MAPPO, in points and as a share."""
    leads = facts.leads(task, BACKBONE)
    most, largest = max(leads, key=lambda size: leads[size]), max(leads)
    train, test = (np.mean([leads[size] for size in facts.sizes(task, split)]) for split in ("train", "test"))
    if test <= 0:
        return "no: at test sizes there is no lead over MAPPO"
    if test <= train and most == largest:
        return "no: the lead over MAPPO is no larger at test sizes than at training sizes"
    if test <= train:
        return (
            f"no: the lead over MAPPO narrows, from {decimal(leads[most])} {with_agents(most)} to "
            f"{decimal(leads[largest])} with {largest}"
        )
    least = min(leads)
    end = "" if most == largest else f" ({decimal(leads[largest])} with {largest})"
    return (
        f"in points, from {decimal(leads[least])} {with_agents(least)} to {decimal(leads[most])} "
        f"{with_agents(most)}{end}; {_shares(facts, task)}"
    )


def _shares(facts: Facts, task: str) -> str:
    ours, theirs = (
        [_percent(mean(task, OURS, split), mean(task, BACKBONE, split)) for split in SPLITS]
        for mean in (facts.mean, facts.printed)
    )
    verdict = "too" if ours[-1] > ours[0] else "**no**"
    shares = ", ".join(f"{share:.1f} % at {SIZES[split]}" for split, share in zip(SPLITS, ours, strict=True))
    paper = listed(f"{share:.1f}" for share in theirs)
    return f"as a share of MAPPO's return {verdict}: {shares} sizes (paper {paper} %)"


def _percent(ours: float, theirs: float) -> float:
    if theirs == 0:
        raise NotKnown
    return 100 * (ours - theirs) / abs(theirs)


def stages(facts: Facts, task: str) -> str:
    """Whether PC3D gains most in later stages of the curriculum."""
    ours, theirs = (facts.by_stage(task, method) for method in (OURS, BACKBONE))
    gains = [ours[stage] - theirs[stage] for stage in ours if stage in theirs]
    half = len(gains) // 2
    if not half:
        raise NotKnown
    verdict = "yes" if np.mean(gains[-half:]) > max(float(np.mean(gains[:half])), 0) else "no"
    return (
        f"{verdict}: its training return leads MAPPO's by {listed(map(decimal, gains))} in the "
        f"{number(len(gains))} stages"
    )


def updates(facts: Facts, task: str) -> str:
    """How many IPPO gets, whose printed numbers are its own."""
    ours, theirs = (f"{facts.updates(task, method):,}" for method in ("ippo", BACKBONE))
    return f"{ours} updates, MAPPO {theirs}"


def clock(facts: Facts, task: str) -> str:
    """What an update of PC3D takes beside one of MAPPO."""
    return longer(facts.seconds(task, OURS) / facts.seconds(task, BACKBONE))


def longer(ratio: float) -> str:
    change = round(100 * (ratio - 1))
    return f"{abs(change)} % {'longer' if change >= 0 else 'shorter'}"


def comparisons(facts: Facts) -> str:
    """How many Holm's correction is for; most tasks have the same number."""
    counts = gathered((facts.comparisons(task), task_title(task).name) for task in facts.runs.tasks)
    if not counts:
        raise NotKnown
    usual = max(counts, key=lambda count: (len(counts[count]), count))
    others = (f"; on {listed(tasks)} {count}" for count, tasks in counts.items() if count != usual)
    return f"{usual}{''.join(others)}"


def collected(facts: Facts, task: str = "lbf") -> str:
    """The share of LBF's food at test sizes, where all of it is 100 / team size."""
    everything = float(np.mean([100 / size for size in facts.sizes(task, "test")]))
    shares = [
        facts.mean(task, method, "test") / everything
        for method in facts.methods(task)
        if method in family(BACKBONE)
    ]
    if not shares:
        raise NotKnown
    low, high = (round(100 * share) for share in (min(shares), max(shares)))
    room = ", so that column leaves little room for differences" if low >= 80 else ""
    return f"{low} to {high} % of it{room}"


def _judged(facts: Facts, task: str, method: str, words: dict[str, str]) -> str:
    """The splits of one verdict together."""
    found = {split: words[verdict] for split, verdict in facts.verdicts(task, OURS, method).items()}
    if min(facts.seeds(task, method), facts.seeds(task, OURS)) > 1:
        return by_split(found)
    return f"{by_split(found)}{',' * (len(set(found.values())) > 1)} by one seed"
