"""Mixes and views of capabilities as people write them: as options, in files, presets and studies."""

import json

import pytest

from pc3d import cli
from pc3d.cli.train import parse
from pc3d.jobs.study_options import check_options
from pc3d.presets.experiment_file import read_experiment, to_plain
from pc3d.presets.paper import paper
from pc3d.presets.preset_file import read_preset
from pc3d.system.errors import BadInput
from pc3d.tasks.named_mixes import mixes_to_play

FILE = """
seen = "own"
kinds.tall = { size = 0.25 }
train.half = { tall = 1, usual = 1 }
test.all-tall = { tall = 1 }
"""


def experiment(*words, task="spread"):
    return parse([task, "pc3d", *words]).experiment


def test_a_task_has_mixes_by_name_and_one_mix_is_written_in_a_word():
    unlike = experiment("--mix", "unlike").mixes
    assert unlike.seen == "visible"
    assert [mix.name for mix in unlike.train] == ["even", "mostly-runners"]
    one = experiment("--mix=runner=2,hauler=1", "--capabilities", "none").mixes
    assert (one.train[0].amounts, one.seen, one.test) == ((1.0, 2.0), "none", ())
    assert experiment("--mix", "usual=0.5,runner=0.5").mixes.train[0].counted is False


def test_a_file_has_kinds_of_its_own(tmp_path):
    file = tmp_path / "mixes.toml"
    file.write_text(FILE)
    found = experiment("--mix", str(file)).mixes
    assert [mix.name for mix in found.all] == ["half", "all-tall"]
    assert dict(found.kinds[0].abilities) == {"size": 0.25}
    assert experiment("--mix", str(file), "--capabilities", "visible").mixes.seen == "visible"


def test_an_experiment_survives_its_file_and_without_mixes_it_is_written_as_ever():
    for task in ("spread", "lbf", "rware"):
        one = experiment("--mix", "unlike", task=task)
        written = json.dumps(to_plain(one), sort_keys=True)
        assert read_experiment(json.loads(written), "here") == one
    assert "mixes" not in to_plain(paper("spread", "pc3d"))


def test_a_file_that_was_tampered_with_is_refused():
    plain = to_plain(experiment("--mix", "unlike"))
    plain["mixes"]["kinds"]["runner"]["size"] = 3.0
    with pytest.raises(BadInput, match=r"size of the kind runner must be from 0.05 to 0.3"):
        read_experiment(plain, "here")


def test_a_preset_has_mixes_by_the_same_words(tmp_path):
    file = tmp_path / "preset.toml"
    file.write_text('task = "lbf"\nmethod = "pic"\nmix = "unlike"\ncapabilities = "own"\n')
    mixes = read_preset(file).applied(paper("lbf", "pic"), "here").mixes
    assert (len(mixes.test), mixes.seen) == (3, "own")


def test_a_study_says_them_among_its_options():
    check_options(["--mix unlike --capabilities own", "--roster churn"], ("spread",), ("pc3d",))


def test_sealed_runs_know_no_test_mix_and_play_none():
    sealed = parse(["spread", "pc3d", "--mix", "unlike", "--sealed", "True"]).experiment
    assert not sealed.mixes.test
    assert [mix.name for mix in mixes_to_play("all", sealed)] == [
        *("even", "mostly-runners", "between", "mostly-haulers"),
    ]
    for text in ("beyond", "giant=1,usual=1"):
        with pytest.raises(BadInput, match="is sealed"):
            mixes_to_play(text, sealed)
    with pytest.raises(BadInput, match="is sealed"):
        mixes_to_play("even", parse(["spread", "pc3d", "--sealed", "True"]).experiment)


def test_what_is_played_is_found_by_name_by_amounts_or_all():
    usual = experiment()
    assert len(mixes_to_play("all", usual)) == 7
    assert mixes_to_play("unlike", usual) == mixes_to_play("all", usual)
    assert mixes_to_play("beyond", usual)[0].kinds[0].name == "giant"
    assert mixes_to_play("giant=1,usual=3", usual)[0].counts(8) == (2, 6)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("train spread pc3d --mix runer=1", "perhaps you meant runner"),
        ("train spread pc3d --mix unlik", "perhaps you meant unlike"),
        ("train spread pc3d --mix runner=", "a mix is written as runner=2,hauler=1"),
        ("train spread pc3d --mix runner=-1", "must be above 0"),
        ("train spread pc3d --mix nowhere.toml", "nowhere.toml"),
        ("train spread pc3d --mix unlike --capabilities all", "no view of capabilities called 'all'"),
        ("train spread pc3d --capabilities own", "--capabilities needs a --mix"),
        ("train own.task:make pc3d --train-sizes 2 --capabilities own", "all alike"),
        ("train own.task:make pc3d --train-sizes 2 --mix unlike", "all alike"),
        ("train spread pc3d --mix unlike --backend original", "leave --backend original away"),
        ("parity rware --mix unlike --episodes 1", "our extension"),
    ],
)
def test_what_cannot_be_is_one_sentence(words, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(words.split()) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [("{ size = 3 }", "size of the kind tall must be"), ("{ sise = 0.1 }", "perhaps you meant size")],
)
def test_a_capability_out_of_its_range_is_one_sentence(kind, sentence, tmp_path, capsys):
    file = tmp_path / "mixes.toml"
    file.write_text(f"kinds.tall = {kind}\ntrain.tall = {{ tall = 1 }}\n")
    assert cli.main(["train", "spread", "pc3d", "--mix", str(file)]) == 2
    assert sentence in capsys.readouterr().err
