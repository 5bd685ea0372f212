"""What `pc3d train` makes of its words: sizes at will, methods by path, guesses, one style of truth."""

import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from pc3d.cli import COMMANDS, main, parsed, study
from pc3d.cli.booleans import with_values
from pc3d.cli.quick_words import changed_by_words
from pc3d.cli.train import TEACHERS, begun_from, parse
from pc3d.presets.paper import paper
from pc3d.system.errors import BadInput
from tests.small import small_experiment

METHOD = """
from pc3d.experiment.methods import like_pc3d

mine = like_pc3d("Mine", "PC3D without distillation", "#000000", distils=False)
METHODS = {"listed": mine}
wrong = 3

def made():
    return mine
"""


def sizes(*words, task="spread"):
    experiment = parse([task, "pc3d", *words]).experiment
    return experiment.rosters, experiment.curriculum


def test_built_in_tasks_take_any_sizes_with_a_curriculum_that_grows():
    words = ("--train-sizes", "3,5,7,9", "--validation-sizes", "4,6", "--test-sizes=12,16")
    rosters, curriculum = sizes(*words)
    assert (rosters.train, rosters.validation, rosters.test) == ((3, 5, 7, 9), (4, 6), (12, 16))
    assert [stage.team_sizes for stage in curriculum.stages] == [(3,), (3, 5), (3, 5, 7), (3, 5, 7, 9)]


def test_splits_that_are_not_named_keep_the_sizes_that_no_other_has_now():
    usual = paper("spread", "pc3d")
    rosters, curriculum = sizes("--test-sizes", "9,20")
    assert (rosters.train, rosters.validation, rosters.test) == (
        usual.rosters.train,
        usual.rosters.validation,
        (9, 20),
    )
    assert curriculum == usual.curriculum
    rosters, _ = sizes("--train-sizes", "3,9")
    assert 3 not in rosters.validation
    assert 9 not in rosters.test
    assert set(rosters.validation) < set(usual.rosters.validation)


def test_stages_are_added_and_removed_on_the_command_line():
    _, curriculum = sizes("--train-sizes", "2,4,6", "--stages", "0.25:2 0.75:2,4,6")
    assert [(stage.fraction, stage.team_sizes) for stage in curriculum.stages] == [
        (0.25, (2,)),
        (0.75, (2, 4, 6)),
    ]
    _, curriculum = sizes("--stages", "1.0:2,4")
    assert len(curriculum.stages) == 1


def test_built_in_tasks_take_a_file_of_sizes(tmp_path):
    file = tmp_path / "rosters.toml"
    file.write_text("train = [2, 3]\ntest = [4]\n")
    rosters, curriculum = sizes("--rosters", str(file), task="lbf")
    assert (rosters.train, rosters.validation, rosters.test) == ((2, 3), (), (4,))
    assert len(curriculum.stages) == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--train-sizes", "3,5", "--test-sizes", "5"], "5 agents are in --train-sizes and in --test-sizes"),
        (["--train-sizes", "two"], "numbers and ranges such as 1-4,8"),
        (["--train-sizes", "0"], "at least 1 agent"),
        (["--validation-sizes", "1,2,4,6,8"], "no training size is left: name some with --train-sizes"),
        (["--stages", "half:2"], 'such as "0.3:2 0.7:2,4"'),
        (["--stages", "0.5:2"], "the fractions must sum to 1"),
        (["--stages", "1.0:3"], "write --train-sizes"),
        (["--rosters.train", "3", "5"], "write --train-sizes"),
        (["--rosters", "none.toml", "--train-sizes", "2"], "either --rosters FILE or --train-sizes"),
        (["--specialist", "4", "--train-sizes", "2"], "leave out --train-sizes"),
        (["--specialist", "four"], "one team size, such as 4"),
        (["--train-sizes"], "--train-sizes needs a value"),
        (["--train-sizes", ""], "--train-sizes needs a value"),
        (["--preset="], "--preset needs a value"),
        (["--train-sizes", "2", "--train-sizes=3"], "--train-sizes is given twice"),
        (["--preset", "paper", "--seed", "1", "--preset", "x.toml"], "--preset is given twice"),
    ],
)
def test_sizes_that_cannot_be_are_refused_with_what_to_write(words, sentence):
    with pytest.raises(BadInput, match=re.escape(sentence)) as refusal:
        parse(["spread", "pc3d", *words])
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["pc3d", "spread"], "pc3d is a method: write pc3d train spread pc3d"),
        (["spread", "pc3d", "--lr", "0.1"], "here it is called --ppo.learning-rate"),
        (["spread", "pc3d", "--gamma=0.9"], "here it is called --ppo.discount"),
        (["spread", "pc3d", "--team_sizes", "3"], "here it is called --train-sizes"),
        (["spread", "pc3d", "--out", "x"], "here it is called --folder"),
    ],
)
def test_common_guesses_are_answered(words, sentence, capsys):
    assert main(["train", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_swapped_search_is_answered_too(capsys):
    assert main(["tune", "mappo", "lbf"]) == 2
    assert "write pc3d tune lbf mappo" in capsys.readouterr().err


def test_options_that_choose_defaults_are_in_the_help_and_named(capsys):
    with pytest.raises(SystemExit):
        parse(["spread", "pc3d", "--help"])
    shown = capsys.readouterr().out
    for option in ("--preset NAME|FILE", "--train-sizes SIZES", "--stages STAGES", "--rosters FILE"):
        assert option in shown
    for option in ("--specialist SIZE", "--from RUN", "--sealed", "--validation-sizes", "--test-sizes"):
        assert option in shown


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("tasks", "methods", "doctor")])
def test_help_calls_values_by_what_they_are(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert "STR" not in capsys.readouterr().out


def test_a_truth_value_is_written_alone_or_with_its_value_in_every_command():
    assert parse(["spread", "pc3d", "--sealed", "--tensorboard", "False"]).sealed
    assert not parse(
        ["spread", "pc3d", "--recipe.normalise-values", "false"]
    ).experiment.recipe.normalise_values
    for words in (["quick", "--dry-run"], ["--dry-run", "quick"], ["--dry-run", "True", "quick"]):
        command = parsed(study.Command, "study", words)
        assert command.dry_run
        assert command.study == "quick"
    assert not parsed(study.Command, "study", ["quick", "--dry-run", "False"]).dry_run
    assert not parsed(study.Command, "study", ["quick", "--no-dry-run"]).dry_run
    assert with_values(["--dry_run", "--x", "1"], {"dry-run"}) == ["--dry-run", "True", "--x", "1"]


@pytest.mark.parametrize(
    "words",
    [
        "--ppo.learning-rate 0.001 --seed 3",
        "--actor.widths 8 16 --recipe.gate-offset -1",
        "--recipe.normalise-values False --critic.tokens 2",
        "--recipe.activation tanh --episodes 77",
        "",
    ],
)
def test_settings_are_read_alike_with_and_without_the_option_parser(words, monkeypatch):
    quickly = changed_by_words(paper("spread", "pc3d"), words.split())
    assert quickly is not None
    monkeypatch.setattr("pc3d.cli.train_words.changed_by_words", lambda *_: None)
    assert parse(["spread", "pc3d", *words.split()]).experiment == quickly


@pytest.mark.parametrize(
    "words", ["--ppo.epochs", "--ppo.epochs x", "--ppo.no 1", "x", "--ppo.epochs 0", "--seed -1"]
)
def test_what_is_wrong_or_more_is_left_to_the_option_parser(words):
    assert changed_by_words(paper("spread", "pc3d"), words.split()) is None


@pytest.fixture
def own_methods(tmp_path, monkeypatch, nothing_own_stays_known):
    (tmp_path / "own_methods.py").write_text(METHOD)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ["own_methods:mine", "own_methods:made", "own_methods:listed"])
@pytest.mark.usefixtures("own_methods")
def test_a_method_of_ones_own_is_named_by_its_path(name):
    experiment = parse(["spread", name, "--episodes", "9"]).experiment
    assert experiment.method == name
    assert experiment.algorithm == paper("spread", "pc3d").algorithm
    assert experiment.distillation.weight == 0


@pytest.mark.usefixtures("own_methods")
def test_what_is_no_method_is_said_to_be_none_and_no_file_loads_one(tmp_path, capsys):
    (tmp_path / "study.toml").write_text(
        'about = "x"\n[[groups]]\ntasks = ["spread"]\nmethods = ["own_methods:mine"]\nseeds = [0]\n'
    )
    assert main(["study", "study.toml", "--dry-run"]) == 2
    assert "name it with --method own_methods:mine" in capsys.readouterr().err
    assert "own_methods" not in sys.modules
    assert main(["study", "study.toml", "--dry-run", "--method", "own_methods:mine"]) == 0
    assert "pc3d train spread own_methods:mine" in capsys.readouterr().out
    with pytest.raises(BadInput, match="own_methods:wrong is no method"):
        parse(["spread", "own_methods:wrong"])


@pytest.mark.parametrize(
    ("words", "own"),
    [([], False), (["--actor.rnn-dim", "8"], True), (["--actor.widths=8"], True), (["--seed", "3"], False)],
)
def test_a_run_that_begins_from_another_has_its_actor_unless_one_is_chosen(words, own, monkeypatch):
    monkeypatch.setattr("pc3d.cli.train.origin_of", lambda _: None)
    command = parse(["spread", "mappo", "--from", "somewhere", *words])
    origin = SimpleNamespace(experiment=small_experiment("mappo"))
    begun = begun_from(origin, command.experiment, command.given)
    assert begun.actor == (command.experiment if own else origin.experiment).actor
    assert origin.experiment.actor != command.experiment.actor


@pytest.mark.parametrize(
    ("method", "words", "theirs"),
    [("pc3d", [], True), ("pc3d", ["--critic.tokens", "5"], False), ("mappo", [], False)],
)
def test_a_run_that_begins_from_another_has_its_teacher_where_both_have_one(
    method, words, theirs, monkeypatch
):
    monkeypatch.setattr("pc3d.cli.train.origin_of", lambda _: None)
    command = parse(["spread", method, "--from", "somewhere", *words])
    origin = SimpleNamespace(experiment=small_experiment("pc3d"))
    found, usual = begun_from(origin, command.experiment, command.given).critic, command.experiment.critic
    their_teacher = replace(usual, **{name: getattr(origin.experiment.critic, name) for name in TEACHERS})
    assert their_teacher != usual
    assert found == (their_teacher if theirs else usual)
