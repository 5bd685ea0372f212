"""`pc3d tune` as a command: what it prints, inherits, writes and refuses."""

import csv
import json
import re
import tomllib
from pathlib import Path

import pytest

from pc3d.cli import main
from pc3d.cli.tune import _plan, parse
from pc3d.experiment.methods import METHODS
from pc3d.jobs.tuning.plan import inherited
from pc3d.jobs.tuning.trial import _with_validation_mixes
from pc3d.play.arena import CompiledArena
from pc3d.presets.paper import paper, sealed
from pc3d.presets.preset_file import Preset, read_preset, write_preset
from pc3d.tasks.make import make_game
from pc3d.tasks.named_mixes import with_mixes
from tests.jobs.tuning.searches import FIXED, SPACE
from tests.play.hosted.tiny import PATH, SIZES
from tests.small import HAPPO_METHODS, PPO_METHODS, Q_METHODS, small_experiment

PAGE = Path(__file__).parents[3] / "docs" / "tuning.md"
OFF_POLICY = {"maddpg", "matd3", "masac"}
STUDENTS = {"ptde", "ctds"}
ENTITIES = {"a-qmix", "refil", "copa", "sog"}
REGULARISED = {"mipi"}
WITHOUT_CONTEXT = {
    "ippo",
    "mappo",
    "pic",
    "vdn",
    "qmix",
    "qmix-pic",
    "happo",
    "graph",
    *OFF_POLICY,
    *STUDENTS,
    *ENTITIES,
    *REGULARISED,
}
WITHOUT_SETS = {"ippo", "mappo", "vdn", "qmix", "happo", "graph", "ptde", *OFF_POLICY, *ENTITIES}
NAMES = {
    "IPPO, MAPPO": {"ippo", "mappo"},
    "VDN and all QMIX": set(Q_METHODS),
    "HAPPO and PC3D-HAPPO": set(HAPPO_METHODS),
    **{f"{name.upper()}, PC3D-{name.upper()}": {name, f"pc3d-{name}"} for name in OFF_POLICY},
    "all but IPPO and VDN": set(METHODS) - {"ippo", "vdn"},
    "all PIC, CTDS, MIPI, PC3D and its relatives": set(METHODS) - WITHOUT_SETS,
    "Graph-MAPPO": {"graph"},
    **{name.upper(): {name} for name in STUDENTS | ENTITIES | REGULARISED},
    "PC3D and its relatives": set(METHODS) - WITHOUT_CONTEXT,
    "PC3D and its relatives but A-MAPPO": set(METHODS) - WITHOUT_CONTEXT - {"a-mappo"},
    "those of them that learn by PPO": set(PPO_METHODS) - WITHOUT_CONTEXT - {"a-mappo"},
}


def tune(folder: Path, *more: str) -> list[str]:
    return ["tune", "spread", "mappo", "--folder", str(folder), "--workers", "1", *more]


def test_the_table_in_the_docs_is_the_table_in_the_code():
    rows = re.findall(r"^\| `(\w+\.\w+)` \| (.+) \| (.+) \|$", PAGE.read_text(), re.MULTILINE)
    shown = [(name, tried, NAMES[methods]) for name, tried, methods in rows]
    searched_by = [set(filter(row.searched_by, METHODS)) for row in SPACE]
    assert shown == [
        (row.setting, str(row.tried), methods) for row, methods in zip(SPACE, searched_by, strict=True)
    ]


def test_show_space_prints_the_rows_of_the_method_and_does_nothing(tmp_path, capsys):
    assert main(tune(tmp_path / "none", "--show-space", "--fix", "ppo.epochs=8")) == 0
    printed = capsys.readouterr().out
    assert "ppo.learning_rate" in printed
    assert "ppo.epochs" not in printed
    assert "critic.tokens" not in printed
    assert not (tmp_path / "none").exists()


@pytest.mark.usefixtures("fake_workers")
def test_a_search_writes_its_winner_its_trials_and_a_picture(tmp_path, capsys):
    options = ("--trials", "4", "--episodes", "100", "--fix", *FIXED)
    assert main(tune(tmp_path, *options)) == 0
    folder = tmp_path / "spread" / "mappo"
    with open(folder / "trials.csv", newline="") as file:
        trials = list(csv.DictReader(file))
    assert [trial["state"] for trial in trials] == ["done"] * 4
    best = max(trials, key=lambda trial: float(trial["validation_return"]))
    found = tomllib.loads((folder / "preset.toml").read_text())
    assert found["ppo"].get("learning_rate", 1.84e-3) == float(best["ppo.learning_rate"])
    assert found["found"]["trial"] == int(best["trial"])
    assert found["found"]["validation_return"] == float(best["validation_return"])
    assert (folder / "search.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "search.svg").read_text()
    assert f"--preset {folder / 'preset.toml'}".replace("\n", "") in capsys.readouterr().out.replace("\n", "")
    assert main(tune(tmp_path, "--trials", "4", "--episodes", "200", "--fix", *FIXED)) == 2
    assert "episodes is 100 there and 200 here" in capsys.readouterr().err
    assert main(tune(tmp_path, *options)) == 0, "a search that is done says so again"


@pytest.mark.usefixtures("fake_workers")
def test_a_search_without_a_winner_leaves_the_table_and_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FAKE", "diverge")
    assert main(tune(tmp_path, "--trials", "2", "--fix", *FIXED)) == 2
    assert "no trial of this search came to its end" in capsys.readouterr().err
    assert "diverged" in (tmp_path / "spread" / "mappo" / "trials.csv").read_text()
    assert not (tmp_path / "spread" / "mappo" / "preset.toml").exists()


def test_a_method_inherits_the_nearest_winner_there_is(tmp_path):
    assert inherited(tmp_path, paper("spread", "gate-on")) == (paper("spread", "gate-on"), "paper")
    for method, changes in (("mappo", {"ppo.epochs": 3}), ("pc3d", {"ppo.epochs": 5, "critic.tokens": 7})):
        (tmp_path / "spread" / method).mkdir(parents=True)
        write_preset(tmp_path / "spread" / method / "preset.toml", Preset("spread", method, changes))
    for method, epochs in (("pic", 3), ("pc3d", 3), ("gate-on", 5), ("mappo", 8), ("ippo", 6)):
        assert inherited(tmp_path, paper("spread", method))[0].algorithm.epochs == epochs, method
    assert inherited(tmp_path, paper("spread", "gate-on"))[1] == "the winner of pc3d's search"
    assert inherited(tmp_path, paper("lbf", "pic"))[0] == paper("lbf", "pic")


def test_the_inherited_winner_is_named_and_can_be_refused(tmp_path, capsys):
    (tmp_path / "spread" / "mappo").mkdir(parents=True)
    write_preset(
        tmp_path / "spread" / "mappo" / "preset.toml", Preset("spread", "mappo", {"actor.rnn_dim": 32})
    )
    assert read_preset(tmp_path / "spread" / "mappo" / "preset.toml").changes == {"actor.rnn_dim": 32}
    words = ["tune", "spread", "pc3d", "--folder", str(tmp_path), "--show-space"]
    assert main(words) == 0
    assert "the winner of mappo's search" in capsys.readouterr().out.replace("\n", " ")
    assert main([*words, "--base", "paper"]) == 0
    assert "the winner" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["sprad", "mappo"], "perhaps you meant spread"),
        (["spread", "mapo"], "perhaps you meant mappo"),
        (["spread", "mappo", "--base", "papr"], "perhaps you meant paper"),
        (["spread", "mappo", "--base", "none.toml"], "cannot be read"),
        (["spread", "mappo", "--fix", "ppo.epoch=3"], "perhaps you meant epochs"),
        (["spread", "mappo", "--episodes", "0"], "episodes must be from 1"),
        (["spread", "mappo", "--seeds", "0"], "seeds must be from 1"),
        (["spread", "mappo", "--rollouts", "0"], "rollouts must be from 1"),
        (["spread", "mappo", "--workers", "0"], "at least 1 worker"),
        (["spread", "mappo", "--trials", "0"], "at least 1 worker and 1 trial"),
        (["spread", "mappo", "--storage", "nonsense"], "--storage is a database's address"),
        ([PATH, "mappo"], "an own task needs its team sizes"),
        ([PATH, "mappo", "--train-sizes", "2"], "decided on validation sizes"),
        ([PATH, "mappo", *SIZES, "--base", "paper"], "there is no preset of an own task"),
        ([PATH, "mapo", *SIZES], "perhaps you meant mappo"),
        (["spread", "mappo", *SIZES], "a search on spread has the paper's team sizes"),
        (["spread", "mappo", "--horizon", "9"], "spread has its own"),
        (["spread", "mappo", "--env-workers", "2"], "spread has its own"),
        (["pursuit", "mappo", *SIZES], "there is no task"),
        (["trial", "nowhere", "--episodes", "1", "--seeds", "1", "--rollouts", "1"], "nowhere"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(tmp_path, monkeypatch, capsys, words, sentence):
    monkeypatch.chdir(tmp_path)
    assert main(["tune", *words]) == 2
    errors = capsys.readouterr().err
    assert sentence in errors
    assert errors.count("\n") == 1
    assert "Traceback" not in errors


def test_without_optuna_a_search_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("pc3d.cli.tune.find_spec", lambda *_: None)
    assert main(tune(tmp_path)) == 2
    assert "pip install -e '.[tune]'" in capsys.readouterr().err


def test_a_folder_with_trials_of_an_unknown_search_is_refused(tmp_path, capsys):
    (tmp_path / "spread" / "mappo" / "trials").mkdir(parents=True)
    assert main(tune(tmp_path)) == 2
    assert "trials of an unknown search" in capsys.readouterr().err


def test_a_second_search_in_the_same_folder_is_refused(tmp_path, capsys):
    from pc3d.system.files import one_owner

    folder = tmp_path / "spread" / "mappo"
    folder.mkdir(parents=True)
    with one_owner(folder):
        assert main(tune(tmp_path)) == 2
    assert "another process is already working" in capsys.readouterr().err


def test_a_search_with_unlike_agents_writes_them_into_every_preset(tmp_path, capsys):
    words = ["spread", "mappo", "--folder", str(tmp_path), "--mix", "unlike", "--capabilities", "own"]
    plan = _plan(parse(words))
    assert plan.base.mixes.seen == "own"
    write_preset(tmp_path / "trial.toml", plan.preset_of({}))
    trial = read_preset(tmp_path / "trial.toml").applied(paper("spread", "mappo"), "here")
    assert trial.mixes == plan.base.mixes
    assert "mixes" in plan.identity
    judging = json.loads(plan.identity["mixes"])
    assert "test" not in judging or not judging["test"]
    # What it started from must not have other agents than it says.
    write_preset(tmp_path / "base.toml", Preset("spread", "mappo", {}, mix="unlike"))
    assert main(["tune", *words[:4], "--base", str(tmp_path / "base.toml"), "--show-space"]) == 2
    assert "was found with other kinds of agents" in capsys.readouterr().err


def test_validation_mixes_decide_a_search():
    experiment = sealed(with_mixes(small_experiment("mappo"), "unlike", None))
    arena = _with_validation_mixes(CompiledArena(make_game(experiment)), experiment.mixes)
    assert arena.game.cast.mixes == experiment.mixes.validation
    assert set(arena.game.cast.mixes).isdisjoint(experiment.mixes.train)
