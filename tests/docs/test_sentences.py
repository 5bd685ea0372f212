"""Sentences follow the numbers: with other runs, other words."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from docs.sentences import words
from docs.sentences.before import SENTENCES_OF_BEFORE
from docs.sentences.facts import Facts, NotKnown
from docs.sentences.methods import execution_table, method_table
from docs.sentences.table import SENTENCES, sentences
from pc3d.experiment.execution import Execution
from pc3d.experiment.methods import METHODS
from pc3d.report.prose import listed
from pc3d.report.runs import find_runs
from pc3d.tasks.registry import paper_of
from tests.docs.pages import ROOT
from tests.report.made_up import add_metrics, make_run
from tests.report.tables.test_collisions import count_pairs

FOUR = ("ippo", "mappo", "pic", "pc3d")
HIGH = 1000.0  # above all that the paper prints
MEASURES = {
    "alignment": 0.5,
    "alignment_with_teammates": 0.4,
    "alignment_of_a_constant": 0.6,
    "variance_explained": -1.0,
    "personal_share": 0.0,
    "gate_mean": 0.5,
    "gate_deviation": 0.1,
    "return": 10.0,
    "return_gate_off": 10.0,
    "return_gate_on": 10.0,
}


@pytest.fixture
def told(tmp_path):
    """What is said of runs with these returns by method: a number, or a function of the team size."""

    def tell(returns, name, task="spread", seeds=3, contexts=None, noise=0.001):
        place = tmp_path / str(len(list(tmp_path.iterdir())))
        for method, level in returns.items():
            for seed in range(seeds if isinstance(seeds, int) else seeds[method]):
                folder = play(place, task, method, level, seed, noise)
                if contexts is not None and METHODS[method].has_context:
                    write_contexts(folder, contexts.get(method, {}))
        return SENTENCES[name](Facts(find_runs([place])))

    return tell


def play(place, task, method, level, seed=0, noise=0.0):
    sizes = paper_of(task).rosters.all
    means = {size: level(size) if callable(level) else level for size in sizes}
    return make_run(place, task, method, seed, {size: [mean + noise * seed] for size, mean in means.items()})


def write_contexts(folder, measures):
    found = {**MEASURES, **measures, "alignment_by_step": [0.5]}
    by_size = {str(size): found for size in folder.experiment().rosters.all}
    (folder.path / "context.json").write_text(json.dumps({"rollouts": 8, "by_size": by_size}))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (listed(["a", "b", "c"]), "a, b and c"),
        (words.percent([0.86, 0.874]), "86 to 87 %"),
        (words.percent([-0.4, 0]), "none"),
        (words.times([12.4]), "twelve times"),
        (words.times([1.3, 2.2]), "1.3 to two times"),
        (words.fold(3.1), "threefold"),
        (words.fold(1.4), "1.4-fold"),
        (words.fraction(0.71), "seven tenths"),
        (words.fraction(0.99), "nearly all"),
        (words.at_least(0.34), "a third"),
        (
            words.by_split({"train": "a", "validation": "b", "test": "b"}),
            "a at training sizes, b at validation and test sizes",
        ),
        (words.where({"spread": True, "lbf": False}, "so", "not so"), "so on Spread only"),
        (words.where({"spread": False, "lbf": False}, "so", "not so"), "not so"),
    ],
)
def test_numbers_are_put_into_words(said, meant):
    assert said == meant


def test_levels_name_what_is_not_above_the_paper(told):
    above = dict.fromkeys(FOUR, HIGH)
    assert told(above, "levels") == "Every method's mean is above the paper's on every split."
    assert told(dict.fromkeys(FOUR, -HIGH), "levels").startswith("No method's mean")
    mixed = told({**above, "pic": -HIGH}, "levels")
    assert mixed == "Of 12 means 9 are above the paper's; not those of PIC-MAPPO on Spread."


def test_a_lead_is_called_what_the_test_calls_it(told):
    clear = {"ippo": 1.0, "mappo": 1.0, "pic": 1.0, "pc3d": 2.0}
    assert "better than IPPO on all splits, than MAPPO" in told(clear, "lead-spread")
    assert told(clear, "against-mappo-spread") == "**better**"
    assert told(clear, "lead-spread", noise=10).endswith("these seeds cannot tell it from chance.")
    assert told(clear, "against-mappo-spread", noise=10) == "higher"
    behind = {**clear, "pc3d": 0.0}
    assert "PC3D has the best mean of the four methods on no split" in told(behind, "lead-spread")
    assert "It is worse than IPPO" in told(behind, "lead-spread")
    one_beaten = {"ippo": 0.0, "mappo": 3.0, "pic": 2.0, "pc3d": 1.0}
    assert "Its mean is the best of the four on no split." in told(one_beaten, "lead-spread")
    assert told(behind, "against-mappo-spread") == "**worse**"
    assert told(behind, "best-of-four-spread") == "**no**"
    assert "Its mean is not the best of the four at test sizes." in told(
        {**clear, "mappo": lambda size: 3.0 if size > 8 else 1.0}, "lead-spread"
    )


def test_an_ablation_that_is_ahead_turns_the_sentence_round(told):
    every = dict.fromkeys(METHODS, 1.0)
    assert (
        told({**every, "pc3d": 2.0}, "always-open")
        == "has a worse mean than PC3D on all three splits, as in the paper"
    )
    assert told({**every, "gate-on": 2.0}, "always-open").startswith(
        "has a better mean than PC3D on all three splits"
    )
    assert told({**every, "gate-on": 2.0}, "weaker-gate-on-spread").startswith("**no**: ")
    assert not told({**every, "pc3d": 2.0}, "weaker-gate-on-spread").startswith("**no**")
    assert told({**every, "hyper-pc3d": 0.0}, "competitive-hyper-pc3d-spread").startswith("**no**")


def test_an_ablation_generalizes_less_only_if_it_falls_further_behind_on_new_sizes(told):
    name, ours = "generalizes-less-a-mappo-spread", 10.0
    tails = [
        told({"pc3d": ours, "a-mappo": lambda size, late=late: late if size > 8 else 9.0}, name)
        for late in (8.0, 9.5, 11.0)
    ]
    assert [tail.partition(", ")[2] for tail in tails] == [
        "and more so at test sizes",
        "and no more so at test sizes",
        "**better** at test sizes",
    ]


def test_a_lead_is_general_only_if_no_size_is_behind(told):
    returns = dict.fromkeys(FOUR, 1.0)
    assert told({**returns, "pc3d": 2.0}, "general-spread") == "yes, by the means of every size"
    tie = told(
        {**returns, "pc3d": lambda size: 1.0 if size == 5 else 2.0, "ippo": 0.0, "mappo": 0.0},
        "general-spread",
    )
    assert tie == "yes, by the means, but for one tie with PIC-MAPPO"
    behind = told({**returns, "pc3d": lambda size: 0.0 if size == 5 else 2.0}, "general-spread")
    assert behind.startswith("**no**, by the means: it is behind IPPO with 5 agents")


def test_larger_teams_widen_the_margin_or_do_not(told):
    returns = {"mappo": -10.0, "pc3d": lambda size: -10.0 + size}
    wider = told(returns, "widening-spread")
    assert wider.startswith(
        "in points, from 1.0 alone to 10.0 with 10 agents; as a share of MAPPO's return too"
    )
    returns["pc3d"] = lambda size: -min(size, 9.5)
    assert (
        told(returns, "widening-spread") == "no: the lead over MAPPO narrows, from 9.0 alone to 0.5 with 10"
    )


RECOVERED = {"alignment": 0.9, "variance_explained": 0.5}
PERSONAL = {"personal_share": 0.3}


@pytest.mark.parametrize(
    ("name", "before", "measures", "after"),
    [
        ("reason", "not supported on Spread", RECOVERED | PERSONAL, "supported on Spread"),
        ("because", "actors do not recover them", RECOVERED, "actors recover them"),
        ("because", "The contexts hardly differ", PERSONAL, "The contexts differ"),
        (
            "without-recovery",
            "**not** supported: PC3D's actors do not",
            RECOVERED | PERSONAL,
            "supported: PC3D's actors recover",
        ),
        ("not-recovered", "**the context is not recovered**", RECOVERED, "**the context is recovered**"),
        ("own-to-recover", "On Spread, **nor is there much", PERSONAL, ""),
        ("personal-spread", "**no**: ", PERSONAL, "in part: 30 % of"),
        ("recovered-spread", "**no**: the best constant", RECOVERED, "yes: "),
        ("gates-spread", "they stay near the half", {"gate_mean": 0.75}, "they are open by three quarters"),
        (
            "gates-spread",
            "forcing them open or shut changes nothing",
            {"return_gate_off": 5.0},
            "forcing them shut costs",
        ),
        ("kept-without-the-gate-spread", "a small part", {"return_gate_off": 0.0}, "a large part"),
    ],
)
def test_contexts_and_gates_are_told_as_they_are(told, name, before, measures, after):
    returns = {**dict.fromkeys(METHODS, 5.0), "pc3d": 10.0}
    assert before in told(returns, name, contexts={})
    changed = told(returns, name, contexts={"pc3d": measures})
    assert before not in changed
    assert after in changed


@pytest.mark.parametrize("half", [RECOVERED, PERSONAL])
def test_half_of_the_reason_is_not_the_reason(told, half):
    returns = {**dict.fromkeys(METHODS, 5.0), "pc3d": 10.0}
    assert told(returns, "reason", contexts={"pc3d": half}) == "not supported on Spread"


def test_who_recovers_everywhere_is_nowhere_said_to_stay_below_the_constant(told):
    returns = {**dict.fromkeys(METHODS, 5.0), "pc3d": 10.0}
    contexts = {"pc3d": RECOVERED, "gate-off": {**RECOVERED, "alignment": 0.95}}
    assert told(returns, "closest", contexts=contexts) == "the actor comes closest to the teacher"


def test_contexts_that_a_policy_does_without_are_not_the_reason(told):
    returns = {**dict.fromkeys(METHODS, 5.0), "pc3d": 10.0, "gate-off": 9.0}
    contexts = {"pc3d": RECOVERED | PERSONAL}
    assert told(returns, "reason", contexts=contexts) == "not supported on Spread"
    sentence = told(returns, "without-recovery", contexts=contexts)
    assert sentence.startswith("**not** supported: PC3D's actors recover their contexts")
    assert sentence.endswith("but a policy that never used them keeps most of the lead over MAPPO")
    untaught = told({**returns, "a-mappo": 9.0}, "without-recovery", contexts=contexts)
    assert untaught.endswith(
        "a policy that never used them and one that was never taught them keep most of the lead over MAPPO"
    )
    assert "a policy that never used them keeps most" in told(returns, "because", contexts=contexts)
    forced_shut = {"pc3d": {"return_gate_off": 0.0}}
    assert "hardly misses it" in told(returns, "kept-without-the-gate-spread", contexts=forced_shut)


def test_todays_returns_are_held_against_those_of_before(tmp_path):
    for place, level in (("now", 5.0), ("before", 3.0)):
        for seed in range(3):
            play(tmp_path / place, "lbf", "pc3d", level / 100, seed, noise=0.01)
    now, before = (Facts(find_runs([tmp_path / place])) for place in ("now", "before"))
    told = SENTENCES_OF_BEFORE["pc3d-before-lbf"](now, before)
    assert told.startswith("+2.00 (-0.27 to +4.27) at training sizes, +2.00")
    with pytest.raises(NotKnown):
        SENTENCES_OF_BEFORE["pic-before-lbf"](now, before)


def test_rware_says_how_many_seeds_there_are_of_what(told):
    given = {"mappo": 1.0, "pc3d": 12.0, "pic": 2.0}
    some = told(given, "rware-runs", "rware", {"mappo": 2, "pc3d": 2, "pic": 1})
    assert some == "two seeds of PC3D and MAPPO, and one of PIC-MAPPO; the other methods are missing"
    assert told(dict.fromkeys(METHODS, 1.0), "rware-runs", "rware") == "three seeds of every method"
    assert told(given, "rware-times-the-mean", "rware", 2).startswith("twelve times MAPPO's mean")
    assert told(given, "rware-times-the-best", "rware", 2).endswith("the better of MAPPO's two seeds")
    assert told(given, "rware-times-the-best", "rware", 3).endswith("the best of MAPPO's three seeds")
    assert told({**given, "pc3d": 0.5}, "rware-apart", "rware").startswith("not every seed")
    assert told(given, "rware-tested", "rware", 1) == "With one seed, that cannot be tested."
    assert (
        told(given, "rware-tested", "rware") == "Tested with three seeds each, that is unlikely to be chance."
    )


def test_what_can_be_missing_on_rware_follows_from_the_ablations(told):
    given = {"mappo": 1.0, "pc3d": 11.0, "gate-off": 9.0, "a-mappo": 8.0}
    assert (
        told(given, "rware-can-be-missing", "rware")
        == "one of the two, the pathway or distillation, can be missing"
    )
    assert (
        told({**given, "gate-off": 2.0}, "rware-can-be-missing", "rware")
        == "only distillation can be missing"
    )
    assert told({**given, "gate-off": 2.0}, "rware-ablations", "rware").startswith(
        "both ablations that were run, three seeds each, do not both keep"
    )
    shut = {"pc3d": {"return": 11.0, "return_gate_off": 5.5}}
    assert told(given, "rware-lost", "rware", contexts=shut).endswith("its deliveries fall by half")
    assert told(given, "rware-needs", "rware", contexts={"pc3d": {"return_gate_off": 10.9}}) == "hardly needs"


def test_collisions_counted_twice_may_put_returns_below_the_paper(tmp_path):
    for method in FOUR:
        count_pairs(play(tmp_path, "spread", method, -30.0).path / "scores.csv", 60)
    told = sentences(find_runs([tmp_path]))
    assert (
        told["counted-twice"]
        == "below the paper's at training and validation sizes, and partly above them at test sizes"
    )
    assert told["by-each-count"].startswith(
        "with pairs counted once and by the mean over agents the four methods are above the paper's numbers "
        "on all splits; with pairs counted twice they are below them at training and validation sizes, and"
    )


def test_a_conclusion_is_drawn_only_while_it_follows(tmp_path):
    """From when learning takes off: of the backbone later than of those with PC3D's critic, or not."""
    levels = {"mappo": 0.1, "pic": 0.1, "pc3d": 40.0, "gate-off": 40.0, "a-mappo": 40.0}
    for place, of_mappo in (("later", 0.1), ("as soon", 40.0)):
        for method, level in {**levels, "mappo": of_mappo}.items():
            folder = play(tmp_path / place, "rware", method, level)
            add_metrics(folder, np.random.default_rng(0), level=level, rise=0.0)
    later, soon = (sentences(find_runs([tmp_path / place])) for place in ("later", "as soon"))
    assert later["rware-conclusion"].startswith("So learning takes off without the pathway")
    assert later["rware-take-off"].endswith(", and MAPPO and PIC-MAPPO in none")
    assert soon["rware-conclusion"] == ""


@pytest.mark.parametrize("given", [["pc3d"], ["mappo"], ["pc3d", "mappo"], FOUR])
@pytest.mark.parametrize("task", ["spread", "lbf", "rware"])
def test_what_runs_cannot_tell_is_left_out(given, task, tmp_path):
    for method in given:
        play(tmp_path, task, method, 1.0)
    told = sentences(find_runs([tmp_path]))
    assert "levels" in told
    assert "reason" not in told


@pytest.mark.parametrize("task", ["spread", "lbf", "rware"])
def test_runs_without_scores_say_next_to_nothing(task, tmp_path):
    for method in ("mappo", "pc3d"):
        make_run(tmp_path, task, method, 0, None)
    assert not {"levels", f"lead-{task}", "rware-runs", "rware-take-off"}.intersection(
        sentences(find_runs([tmp_path]))
    )


def test_a_method_that_needs_something_to_act_is_said_to(monkeypatch):
    assert "| **PC3D** | – | – | – | **yes** | – |" in execution_table()
    talking = replace(METHODS["pc3d"], execution=Execution(messages=True, further="radios"))
    monkeypatch.setitem(METHODS, "pc3d", talking)
    assert "| **PC3D** | – | **yes** | – | – | radios |" in execution_table()


def test_the_table_of_methods_has_each_once_and_a_page_for_what_it_learns_by(monkeypatch):
    named = re.findall(r"`([\w-]+)`", method_table())
    assert sorted(named) == sorted(METHODS)
    for page in re.findall(r"\((docs/\w+\.md)", method_table()):
        assert (ROOT / page).exists()
    assert method_table().count("](docs/") == method_table().count("\n") - 2
    monkeypatch.setitem(METHODS, "mine", METHODS["pc3d-happo"])
    assert "| `happo` | `pc3d-happo`, `mine` |" in method_table()
