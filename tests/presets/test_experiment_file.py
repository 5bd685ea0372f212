"""An experiment's plain form: every one that was ever written is read, and what never was is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pc3d.cli import main
from pc3d.experiment.methods import METHODS
from pc3d.experiment.roster_file import growing_curriculum
from pc3d.experiment.rosters import Rosters
from pc3d.experiment.world import ObservationPart, OwnWorld
from pc3d.presets.experiment_file import FORMAT, read_experiment, to_plain
from pc3d.presets.paper import custom, paper
from pc3d.runs.policy import load_policy
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import BadInput
from pc3d.system.plain import differences
from pc3d.tasks.make import make_game
from pc3d.tasks.registry import papers
from pc3d.tasks.spread.rules import SpreadRules

RESULTS = Path(__file__).parents[2] / "results"
RECORDS = sorted(path.parent for path in RESULTS.rglob("experiment.json"))
EXPERIMENTS = [paper(task, method) for task in papers() for method in METHODS]
OWN = custom(
    "somebody.elses:make",
    "pc3d",
    Rosters(train=(2,), test=(3,)),
    growing_curriculum((2,)),
    world=OwnWorld("host", 5, (2,), ("stay", "go"), "the sum of rewards"),
)
WRITTEN_WITH_PPO = [experiment for experiment in EXPERIMENTS if experiment.algorithm.section == "ppo"]


def written(experiment):
    """As a file has it: JSON knows no tuples."""
    return json.loads(json.dumps(to_plain(experiment)))


def in_format_1(experiment, collisions="pairs"):
    """As the first versions wrote it, when PPO was the only algorithm and every task had Spread's rule."""
    plain = written(experiment)
    del plain["format"], plain["rules"]
    algorithm = plain.pop("algorithm")
    assert algorithm.pop("name") == "ppo"
    return {**plain, "ppo": algorithm, "collisions": collisions}


def as_recorded(task, method):
    """The paper's experiment as it was when the first results were made, before encodings were normalised."""
    experiment = paper(task, method)
    critic = replace(experiment.critic, normalise_encodings=False)
    return replace(experiment, critic=critic, recipe=experiment.recipe.without_contexts())


def refusal(plain):
    """The one sentence that a table is refused with; it names the file."""
    with pytest.raises(BadInput) as refused:
        read_experiment(plain, "a/file")
    said = str(refused.value)
    assert "a/file" in said
    assert "\n" not in said
    assert len(said) < 500
    return said


def test_every_recorded_experiment_is_read_and_written_again_as_the_same():
    assert len(RECORDS) > 100
    for place in RECORDS:
        experiment = RunFolder(place).experiment()
        assert read_experiment(written(experiment), str(place)) == experiment


def test_the_recorded_experiments_are_those_they_say():
    """A table that is read as something else would be read as the same something else every time."""
    before = RESULTS / "before/spread/pc3d"
    recorded = json.loads((before / "seed-0/experiment.json").read_text())["experiment"]
    assert recorded.keys() >= {"ppo", "collisions"}, "it is of format 1, as the first versions wrote it"
    assert RunFolder(before / "seed-0").experiment() == as_recorded("spread", "pc3d")
    varied = RunFolder(before / "critic.tokens-1/seed-0").experiment()
    assert varied.critic.tokens == 1


@pytest.mark.parametrize(("task", "method"), [*((task, "mappo") for task in papers()), ("rware", "pc3d")])
def test_policies_of_the_first_versions_load(task, method):
    place = RESULTS / task / method / "seed-0"
    policy = load_policy(place / "final.safetensors")
    assert policy.experiment == RunFolder(place).experiment() == as_recorded(task, method)
    assert (policy.networks.teacher is not None) == (method == "pc3d")


def named(experiment, *parts):
    """The experiment on an own task that names the parts of its observation."""
    return replace(experiment, world=replace(experiment.world, observation_parts=parts))


def test_parts_of_an_own_observation_are_kept_and_tasks_that_name_none_are_written_as_before():
    parts = (ObservationPart("own place", 1), ObservationPart("way to the middle", 1))
    kept = read_experiment(written(named(OWN, *parts)), "a file")
    assert kept.world.observation_parts == make_game(kept).layout == parts
    assert "observation_parts" not in written(OWN)["world"]
    (whole,) = make_game(OWN).layout
    assert whole.width == 2


def test_a_run_of_before_an_observation_had_names_goes_on_with_them():
    assert differences(OWN, named(OWN, ObservationPart("both", 2))) == []
    assert named(OWN, ObservationPart("both", 2)) == OWN


@pytest.mark.parametrize("width", [-1, 1, 3])
def test_parts_that_are_not_the_whole_are_refused(width):
    plain = written(OWN)
    plain["world"]["observation_parts"] = [{"name": "all", "width": width}]
    with pytest.raises(BadInput, match="observation"):
        read_experiment(plain, "a file")


def test_what_is_written_is_read_back():
    for experiment in (*EXPERIMENTS, OWN, replace(EXPERIMENTS[0], rules=SpreadRules("sum"))):
        assert written(experiment)["format"] == FORMAT
        assert read_experiment(written(experiment), "a file") == experiment


def test_both_formats_of_an_experiment_are_the_same_experiment():
    assert {experiment.method for experiment in WRITTEN_WITH_PPO} >= {"ippo", "mappo", "pic", "pc3d"}
    for experiment in (*WRITTEN_WITH_PPO, OWN):
        assert read_experiment(in_format_1(experiment), "a file") == experiment


@pytest.mark.parametrize("collisions", ["pairs", "sum", "mean"])
def test_format_1_said_how_spread_counts_collisions(collisions):
    experiment = replace(paper("spread", "pc3d"), rules=SpreadRules(collisions))
    assert read_experiment(in_format_1(experiment, collisions), "a file") == experiment
    without = paper("lbf", "pc3d")  # where nothing was ever made of it
    assert read_experiment(in_format_1(without, collisions), "a file") == without


@pytest.mark.parametrize("task", papers())
def test_a_table_that_leaves_the_rules_out_means_the_usual_ones(task):
    for plain in (written(paper(task, "pc3d")), in_format_1(paper(task, "pc3d"))):
        for name in ("rules", "collisions"):
            plain.pop(name, None)
        assert read_experiment(plain, "a file") == paper(task, "pc3d")


@pytest.mark.parametrize("value", [0, 3, -1, 10**18])
def test_an_unknown_format_is_refused_with_what_can_be_read(value):
    plain = {**written(paper("spread", "pc3d")), "format": value}
    assert f"format {value}; this version of pc3d reads up to {FORMAT}" in refusal(plain)


@pytest.mark.parametrize(
    "value",
    [True, False, "1", "2", [2], [], {}, None, 1.0, 2.0, float("nan"), 10**40, "x" * 10_000],
    ids=lambda value: repr(value)[:20],
)
@pytest.mark.parametrize("form", [written, in_format_1])
def test_a_format_that_is_no_whole_number_is_refused(form, value):
    assert "format must be" in refusal({**form(paper("spread", "pc3d")), "format": value})


@pytest.mark.parametrize(
    ("algorithm", "sentence"),
    [
        (None, "does not say which algorithm"),
        ("ppo", "does not say which algorithm"),
        (["ppo"], "does not say which algorithm"),
        ({}, "does not say which algorithm"),
        ({"name": None}, "does not say which algorithm"),
        ({"name": ["ppo"]}, "does not say which algorithm"),
        ({"name": "pppo"}, "no algorithm (in a/file) called 'pppo': perhaps you meant ppo"),
        ({"name": "__import__('os')"}, "no algorithm"),
        ({"name": "x" * 10_000}, "no algorithm"),
        ({"name": "ppo"}, "lacks learning_rate"),
    ],
)
def test_an_algorithm_that_is_not_known_is_refused(algorithm, sentence):
    assert sentence in refusal({**written(paper("spread", "pc3d")), "algorithm": algorithm})


@pytest.mark.parametrize("form", [written, in_format_1])
def test_an_algorithm_that_is_not_named_is_refused(form):
    plain = form(paper("spread", "pc3d"))
    for name in ("algorithm", "ppo"):
        plain.pop(name, None)
    assert "does not say which algorithm" in refusal(plain)


@pytest.mark.parametrize("plain", [None, [], "x", 1, True])
def test_what_is_no_table_is_refused(plain):
    assert "must be a table of settings" in refusal(plain)


WRONG_IN_EITHER_FORMAT = {
    "an unknown setting": {"epoch": 3},
    "a seed that is text": {"seed": "1"},
    "a seed that is a boolean": {"seed": True},
    "a task that is a list": {"task": ["spread"]},
    "settings of the actor that are a list": {"actor": [1]},
    "an unknown setting of the actor": {"actor": {"widths": [8], "rnn_dim": 8, "depth": 3}},
    "a backend that does not exist": {"backend": "torch"},
}


@pytest.mark.parametrize("changes", WRONG_IN_EITHER_FORMAT.values(), ids=WRONG_IN_EITHER_FORMAT)
@pytest.mark.parametrize("form", [written, in_format_1])
def test_wrong_settings_are_refused_in_either_format(form, changes):
    refusal({**form(paper("spread", "pc3d")), **changes})


def wrong_in_format_1(task):
    """What the first versions refused, and what a mixture of the two formats could smuggle in."""
    right = in_format_1(paper(task, "pc3d"))
    now = written(paper(task, "pc3d"))
    return {
        "collisions that do not exist": {**right, "collisions": "sums"},
        "collisions that are nothing": {**right, "collisions": None},
        "collisions that are a number": {**right, "collisions": 5},
        "collisions that are a list": {**right, "collisions": ["pairs"]},
        "ppo that is a list": {**right, "ppo": [1]},
        "ppo that is nothing": {**right, "ppo": None},
        "ppo whose epochs are nothing": {**right, "ppo": {**right["ppo"], "epochs": None}},
        "ppo with an unknown setting": {**right, "ppo": {**right["ppo"], "epoch": 3}},
        "ppo with a name": {**right, "ppo": {**right["ppo"], "name": "ppo"}},
        "an algorithm beside ppo": {**right, "algorithm": now["algorithm"]},
        "an algorithm instead of ppo": {**_without(right, "ppo"), "algorithm": now["algorithm"]},
        "rules beside collisions": {**right, "rules": now["rules"]},
        "rules instead of collisions": {**_without(right, "collisions"), "rules": now["rules"]},
    }


def _without(table, name):
    return {other: value for other, value in table.items() if other != name}


@pytest.mark.parametrize("wrong", wrong_in_format_1("spread"))
@pytest.mark.parametrize("task", papers())
def test_what_format_1_could_hold_wrongly_is_still_refused(task, wrong):
    refusal(wrong_in_format_1(task)[wrong])


@pytest.mark.parametrize("name", ["ppo", "collisions"])
def test_format_2_has_no_place_for_the_names_of_format_1(name):
    old = in_format_1(paper("spread", "pc3d"))
    assert f"called {name!r}" in refusal({**written(paper("spread", "pc3d")), name: old[name]})


@pytest.mark.parametrize(("task", "rule"), [("lbf", "collisions"), ("spread", "collision")])
def test_a_rule_that_the_task_does_not_have_is_refused(task, rule):
    assert rule in refusal({**written(paper(task, "pc3d")), "rules": {rule: "pairs"}})


def test_a_command_that_meets_such_a_file_says_the_sentence_and_ends_with_2(tmp_path, capsys):
    wrong = {**written(paper("spread", "pc3d")), "format": True}
    (tmp_path / "experiment.json").write_text(json.dumps({"experiment": wrong}))
    (tmp_path / "done.json").write_text("{}")  # so that whoever takes it does not train for hours
    assert main(["train", "spread", "pc3d", "--folder", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "format must be a whole number, not True" in said
    assert said.count("\n") == 1
