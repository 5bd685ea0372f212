"""A search for a method of one's own, named by its import path."""

import pytest

from pc3d.cli import main
from pc3d.cli.train import parse
from pc3d.cli.tune import parse as parse_tune
from pc3d.experiment.methods import METHODS
from pc3d.jobs.tuning.trial import sealed_experiment
from pc3d.jobs.tuning.trial_folder import Budget, TrialFolder
from tests.jobs.tuning.searches import start_fake_worker

METHOD = "own_methods:mine"
CODE = """
from pc3d.experiment.methods import Method, like_pc3d

mine = like_pc3d("Mine", "PC3D without distillation", "#000000", distils=False)
heir = Method("Heir", "", "#000000", parent="own_methods:mine", critic="mean")
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, nothing_own_stays_known):
    (tmp_path / "own_methods.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("fake_workers")
def test_a_search_takes_a_method_by_its_path_and_names_it_to_its_trials(tmp_path, monkeypatch, capsys):
    started = []

    def start(words, errors):
        started.append(words)
        return start_fake_worker(words, errors)

    monkeypatch.setattr("pc3d.jobs.local.start_worker", start)
    words = ["tune", "spread", METHOD, "--workers", "1", "--trials", "2", "--episodes", "100"]
    assert main(words) == 0, capsys.readouterr()
    folder = tmp_path / "tuning" / "spread" / "own_methods.mine"
    assert [parse_tune(one[1:]).method for one in started] == [METHOD] * 2
    trial = sealed_experiment(TrialFolder(folder / "trials" / "0000"), Budget(100, 1, 4))
    assert (trial.method, trial.distillation.weight) == (METHOD, 0)
    # Its winner is a preset for the method, and where the search of its heir starts from.
    preset = folder / "preset.toml"
    assert parse(["spread", METHOD, "--preset", str(preset)]).experiment.method == METHOD
    del METHODS[METHOD]
    capsys.readouterr()
    assert main(["tune", "spread", "own_methods:heir", "--show-space"]) == 0
    assert f"the winner of {METHOD}'s search" in " ".join(capsys.readouterr().out.split())


def test_what_is_no_method_is_refused_before_anything_is_made(tmp_path, capsys):
    assert main(["tune", "spread", "own_methods:nothing"]) == 2
    assert "the module own_methods has no nothing" in capsys.readouterr().err
    assert "own_methods:nothing" not in METHODS
    assert not (tmp_path / "tuning").exists()
