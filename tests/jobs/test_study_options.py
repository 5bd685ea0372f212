"""A study file's options are settings of its runs: nothing in a file writes, reads or ends anything else."""

import pytest

from pc3d.cli import main
from pc3d.cli.train import parse
from pc3d.experiment.option_names import options_for
from pc3d.jobs.study import Group
from pc3d.jobs.study_options import check_options
from pc3d.presets.paper import paper
from pc3d.system.errors import BadInput

STUDY = 'about = "x"\n[[groups]]\ntasks = ["spread"]\nmethods = ["pc3d"]\nseeds = [0]\n'
FOREIGN = {
    "--tyro-write-completion bash FILE": "no setting --tyro-write-completion",
    "--tyro-print-completion bash": "no setting --tyro-print-completion",
    "-h": "not '-h'",
    "--help": "no setting --help",
    "--": "not '--'",
    "-x 1": "not '-x'",
    "@FILE": "not '@",
    "extra": "not 'extra'",
    "--seed=5": "the study itself decides that",
    "--folder FILE": "the study itself decides that",
    "--sealed False": "the study itself decides that",
    "--task os:system": "no setting --task",
    "--world scaled": "no setting --world",
    "--rosters.sealed-largest 3": "no setting --rosters.sealed-largest",
    "--ppo.epochs 4 -h": "not '-h'",
    "--ppo.epochs 4\\u0000": "printable characters",
    "--ppo.epochs 4\\u001b[2J": "printable characters",
    f"--actor.widths {'1 ' * 2000}": "at most 2000",
    "--recipe.enviroments 8": "perhaps you meant --recipe.environments",
}


@pytest.mark.parametrize("kind", ["options", "variations"])
@pytest.mark.parametrize("words", FOREIGN)
def test_what_is_no_setting_is_refused_and_does_nothing(words, kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    bystander = tmp_path / "bystander"
    bystander.write_text("untouched")
    sealed = "" if kind == "options" else "sealed = true\n"
    written = words.replace("FILE", str(bystander))
    (tmp_path / "study.toml").write_text(f'{STUDY}{sealed}{kind} = ["{written}"]\n')
    assert main(["study", "study.toml", "--dry-run", "--folder", "runs"]) == 2
    told = capsys.readouterr()
    assert FOREIGN[words] in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
    assert bystander.read_text() == "untouched"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bystander", "study.toml"]


@pytest.mark.parametrize(
    "words",
    [
        *("--recipe.gate-offset -1", "--recipe.gate_offset=-1e-3", "--actor.widths 8 16"),
        *("--curriculum.stages.7.fraction 0.5", "--checkpoint-every 8 --tensorboard False"),
        *("--env-workers 2", "--backend original"),
        *("--train-sizes 2,4", "--rosters rosters.toml", "--collisions sum", "", "--ppo.epochs\n 4"),
    ],
)
def test_settings_of_a_run_are_taken(words):
    check_options([words], ("spread", "my_module:make"), ("pc3d", "ippo"))


def test_every_setting_that_training_has_is_one_that_a_study_may_have():
    experiment = paper("spread", "pc3d")
    names = [name for name, _ in options_for(experiment) if name != "seed"]
    assert {"ppo.learning-rate", "collisions", "rosters.train", "curriculum.stages.3.fraction"} <= set(names)
    check_options([f"--{name} 1" for name in names], ("spread",), ("pc3d",))
    assert parse(["spread", "pc3d", "--episodes", "7"]).experiment.episodes == 7


def test_a_rule_of_another_task_is_no_setting_here():
    with pytest.raises(BadInput, match="no setting --collisions"):
        Group(("lbf",), ("pc3d",), (0,), options=("--collisions sum",))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("rollouts = 0", "rollouts must be from 1 to"),
        ("rollouts = -5", "rollouts must be from 1 to"),
        ("rollouts = 1000000000000000000", "rollouts must be from 1 to"),
        (f'about = "{"x" * 501}"', "at most 500 characters"),
        ('about = "\\u001b]0;owned\\u0007"', "at most 500 characters"),
        ('about = "a\\u0000b"', "at most 500 characters"),
    ],
)
def test_numbers_and_words_that_no_study_has_are_refused(line, sentence, tmp_path, capsys):
    study = STUDY.replace('about = "x"\n', "") if line.startswith("about") else STUDY
    (tmp_path / "study.toml").write_text(f"{line}\n{study}")
    assert main(["study", str(tmp_path / "study.toml"), "--dry-run"]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--ppo.epochs [red]nan[/red]", "--ppo.epochs must be a whole number, not '[red]nan[/red]'"),
        ("--ppo.epochs 1e308", "--ppo.epochs must be a whole number, not '1e308'"),
        ("--ppo.epochs", "this study has a run with values that no setting takes: pc3d train spread pc3d"),
    ],
)
def test_values_that_no_setting_takes_are_one_sentence(options, sentence, tmp_path, capsys):
    (tmp_path / "study.toml").write_text(f'{STUDY}options = ["{options}"]\n')
    assert main(["study", str(tmp_path / "study.toml"), "--dry-run"]) == 2
    told = capsys.readouterr()
    assert told.err.startswith(f"pc3d: {sentence}")
    assert options.split()[-1] in told.err
    assert (told.err.count("\n"), told.out.count("Error")) == (1, 0)


@pytest.mark.parametrize("preset", ["a\\u0000b.toml", f"{'x' * 5000}.toml"])
def test_names_that_no_file_can_have_are_one_sentence(preset, tmp_path, capsys):
    (tmp_path / "study.toml").write_text(f'{STUDY}preset = "{preset}"\n')
    assert main(["study", str(tmp_path / "study.toml"), "--dry-run"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("pc3d: ")
    assert told.count("\n") == 1
    assert len(told) < 6000


def test_long_variations_are_folders_that_a_disk_can_have(tmp_path):
    from pc3d.jobs.study import Study

    words = [f"--actor.widths {'8 ' * 60}{last}" for last in (8, 16)]
    group = Group(("lbf",), ("pc3d",), (0,), sealed=True, variations=tuple(words))
    places = [job.folder.parent.name for job in Study("long", (group,)).jobs(tmp_path)]
    assert len(set(places)) == 2
    assert all(len(place) < 200 for place in places)


def test_what_looks_like_markup_is_shown_as_it_is(tmp_path, capsys):
    (tmp_path / "study.toml").write_text(STUDY.replace('"x"', '"[/red] [link=x]y :smile:"'))
    words = ["study", str(tmp_path / "study.toml"), "--dry-run", "--recorded", str(tmp_path / "none")]
    assert main([*words, "--folder", str(tmp_path / "runs")]) == 0
    assert "[/red] [link=x]y :smile:\n1 job, 0 of them done." in capsys.readouterr().out
