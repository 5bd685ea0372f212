"""Every sentence by the name under which a page asks for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from docs.sentences import claims, counting, deliveries, gates, levels, pathway, recovery
from docs.sentences.facts import RIVALS, Facts, NotKnown
from pc3d.report.runs import Runs

Sentence = Callable[[Facts], str]
JUDGED = ("spread", "lbf")  # the columns of the page's table of claims
# Of these the paper says more on Spread than that they are worse.
OTHERS = ("gate-on", "a-mappo", "hyper-pc3d")


def sentences(runs: Runs) -> dict[str, str]:
    """All that these runs can tell."""
    facts, told = Facts(runs), {}
    for name, sentence in SENTENCES.items():
        try:
            told[name] = sentence(facts)
        except (NotKnown, ArithmeticError, LookupError, ValueError):
            continue  # these runs have nothing, or too little, of what the sentence is about
    return told


def _on(make: Callable[..., str], **named: str) -> dict[str, Sentence]:
    """One sentence for each of the judged tasks."""
    name = "-".join([make.__name__.replace("_", "-"), *named.values()])
    return {f"{name}-{task}": partial(make, task=task, **named) for task in JUDGED}


SENTENCES: dict[str, Sentence] = {
    "levels": levels.levels,
    "seeds-of-whole-studies": levels.seeds_of_whole_studies,
    "best-in-the-table": levels.best_in_the_table,
    "survivors": levels.survivors,
    "always-open": levels.always_open,
    **_on(levels.lead),
    "counted-twice": counting.beside_the_paper,
    "by-each-count": counting.by_each_count,
    "growth-with-the-team": counting.ratios,
    "nearest-growth": counting.nearest,
    **{name: make for rival in RIVALS for name, make in _on(claims.against, rival=rival).items()},
    **_on(claims.best_of_four),
    **_on(claims.general),
    **_on(claims.widening),
    **_on(claims.stages),
    **_on(claims.more_than_the_critic),
    **_on(claims.clock),
    **_on(claims.updates),
    **_on(claims.ablation, method="gate-off"),
    **{f"ablation-{method}-lbf": partial(claims.ablation, task="lbf", method=method) for method in OTHERS},
    "weaker-gate-on-spread": partial(claims.weaker, task="spread", method="gate-on"),
    "generalizes-less-a-mappo-spread": partial(claims.generalizes_less, task="spread", method="a-mappo"),
    "competitive-hyper-pc3d-spread": partial(claims.competitive, task="spread", method="hyper-pc3d"),
    "second-spread": partial(claims.second, task="spread"),
    "place-of-ippo-lbf": partial(claims.place_of_ippo, task="lbf"),
    "collected": claims.collected,
    "comparisons": claims.comparisons,
    "reason": recovery.reason,
    "because": recovery.because,
    "without-recovery": recovery.without_recovery,
    "not-recovered": recovery.not_recovered,
    "own-to-recover": recovery.own_to_recover,
    "closest": recovery.closest,
    "furthest": recovery.furthest,
    **_on(recovery.personal),
    **_on(recovery.recovered),
    **_on(gates.gates),
    "kept-without-the-gate-spread": partial(gates.kept_without_the_gate, task="spread"),
    "kept-by-a-mappo-spread": partial(gates.kept_by_a_mappo, task="spread"),
    "below-when-shut-lbf": partial(gates.below_when_shut, task="lbf"),
    "rware-runs": deliveries.runs,
    "rware-times-the-mean": deliveries.times_the_mean,
    "rware-times-the-best": partial(deliveries.times_the_best, rival="mappo"),
    "rware-times-the-best-of-pic": partial(deliveries.times_the_best, rival="pic"),
    "rware-differing": deliveries.differing,
    "rware-tested": deliveries.tested,
    "rware-against-mappo": partial(claims.against, task="rware", rival="mappo"),
    "rware-apart": deliveries.apart,
    "rware-at-every-size": deliveries.at_every_size,
    "rware-second": deliveries.second,
    "rware-gate-off": partial(claims.ablation, task="rware", method="gate-off"),
    "rware-as-much-with-the-gate-off": partial(deliveries.as_much, method="gate-off"),
    "rware-as-much-undistilled": partial(deliveries.as_much, method="a-mappo"),
    "rware-as-much-with-the-gate-off-in-the-paper": partial(
        deliveries.as_much_in_the_paper, method="gate-off"
    ),
    "rware-as-much-undistilled-in-the-paper": partial(deliveries.as_much_in_the_paper, method="a-mappo"),
    "rware-growth": deliveries.growth,
    "rware-reason": pathway.reason,
    "rware-differ": pathway.differ,
    "rware-carried": pathway.carried,
    "rware-ablations": pathway.ablations,
    "rware-can-be-missing": pathway.can_be_missing,
    "rware-lost": pathway.lost,
    "rware-needs": pathway.needs,
    "rware-most-are-lost": pathway.most_are_lost,
    "rware-a-mappo-when-shut": pathway.a_mappo_when_shut,
    "rware-recovered-with-the-gate-off": pathway.recovered_with_the_gate_off,
    "rware-own-or-teammates": pathway.own_or_teammates,
    "rware-take-off": pathway.take_off,
    "rware-conclusion": pathway.conclusion,
    "rware-value-loss": pathway.value_loss,
    "rware-personal": partial(recovery.personal, task="rware"),
    "rware-recovered": partial(recovery.recovered, task="rware"),
    "rware-gates": partial(gates.gates_at_their_bound, task="rware"),
    "rware-constant-part": partial(gates.constant_part, task="rware"),
}
