"""Trackers get every number, stay on this machine, and go on where a run goes on."""

import os
import sys

import pytest

from pc3d.runs.habits import Habits
from pc3d.runs.trackers.table import TRACKERS, trackers, written_to
from pc3d.system.errors import BadInput
from tests.runs.trackers import stand_ins
from tests.small import small_experiment

EXPERIMENT = small_experiment("pc3d")
LINE = {"update": 1, "episodes": 3, "stage": 1, "return": -2.0, "return_mean_2": -2.0, "return_count_2": 3}
SCORED = {"update": 1, "episodes": 3, "return_mean_2": -1.5}
OURS = ("pc3d.runs.trackers.weights_and_biases", "pc3d.runs.trackers.ml_flow")
TOLD = ("WANDB_MODE", "WANDB_PROJECT", "MLFLOW_TRACKING_URI", "MLFLOW_ALLOW_FILE_STORE")
SET_BY_US = {"WANDB_ERROR_REPORTING": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}


@pytest.fixture
def packages(monkeypatch, tmp_path):
    """Stand-ins in the place of both packages, in an environment that says nothing of them."""
    modules = {**stand_ins.wandb(), **stand_ins.mlflow()}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    for name in (*TOLD, *SET_BY_US):
        monkeypatch.setenv(name, "")  # remembered, and so put back in the end
        monkeypatch.delenv(name)
    for name in OURS:
        sys.modules.pop(name, None)
    monkeypatch.chdir(tmp_path)
    yield modules
    for name in OURS:
        sys.modules.pop(name, None)


def watched(folder, *, done=True, **asked):
    (tracker,) = trackers(Habits(tensorboard=False, **asked), folder)
    tracker.started(EXPERIMENT, 0)
    tracker.logged(LINE)
    tracker.evaluated(SCORED)
    tracker.warned("something is flat")
    tracker.ended(done)
    return tracker


def test_weights_and_biases_gets_all_numbers_over_episodes_and_stays_offline(packages, tmp_path):
    watched(tmp_path / "run", wandb=True)
    (run,) = packages["wandb"].runs
    assert run.settings["mode"] == "offline"
    assert run.settings["config"]["method"] == "pc3d"
    assert run.axes == {"*": "episodes"}
    assert run.logged == [
        LINE,
        {"episodes": 3, "evaluation/update": 1, "evaluation/return_mean_2": -1.5},
    ]
    assert run.alerts == ["something is flat"]
    assert run.exit_code == 0


def test_the_user_may_send_it_and_name_the_project(packages, tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "online")
    monkeypatch.setenv("WANDB_PROJECT", "mine")
    watched(tmp_path / "run", wandb=True)
    (run,) = packages["wandb"].runs
    assert (run.settings["mode"], run.settings["project"]) == ("online", "mine")


def test_sittings_of_one_folder_are_one_run_of_weights_and_biases(packages, tmp_path):
    for folder in ("a", "a", "b"):
        watched(tmp_path / folder, wandb=True, done=False)
    first, again, other = (run.settings["id"] for run in packages["wandb"].runs)
    assert first == again != other
    assert packages["wandb"].runs[0].exit_code == 1


def test_mlflow_gets_all_numbers_over_episodes_and_every_setting(packages, tmp_path):
    tracker = watched(tmp_path / "run", mlflow=True)
    assert tracker.client.tracking_uri == (tmp_path / "mlruns").as_uri()
    (run,) = tracker.client.store["pc3d"].values()
    assert dict(pair[:2] for pair in run.metrics) == {
        **LINE,
        **{f"evaluation/{name}": value for name, value in SCORED.items()},
    }
    assert {step for *_, step in run.metrics} == {3}
    assert run.params["actor.rnn_dim"] == "10"
    assert run.tags["pc3d.warning"] == "something is flat"
    assert run.status == "FINISHED"


def test_sittings_of_one_folder_are_one_run_of_mlflow(packages, tmp_path):
    for folder in ("a", "a", "b"):
        tracker = watched(tmp_path / folder, mlflow=True, done=folder == "b")
    first, other = tracker.client.store["pc3d"].values()
    assert len(first.metrics) == 2 * len(other.metrics)
    assert (first.status, other.status) == ("KILLED", "FINISHED")


def test_no_package_tells_its_makers_of_its_use(packages, tmp_path):
    list(trackers(Habits(tensorboard=False, wandb=True, mlflow=True), tmp_path))
    assert {name: os.environ[name] for name in SET_BY_US} == SET_BY_US


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_a_package_that_is_asked_for_and_missing_is_one_sentence(packages, tmp_path, monkeypatch, name):
    for module in packages:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BadInput, match=rf"needs the package {name}"):
        list(trackers(Habits(tensorboard=False, **{name: True}), tmp_path))


def test_every_tracker_has_its_option():
    for name in TRACKERS:
        assert isinstance(getattr(Habits(), name), bool)


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_a_run_that_never_began_can_end(packages, tmp_path, name):
    (tracker,) = trackers(Habits(tensorboard=False, **{name: True}), tmp_path)
    tracker.ended(False)


def test_where_trackers_write_is_told(packages, monkeypatch):
    assert list(written_to(Habits(tensorboard=True))) == []
    asked = Habits(wandb=True, mlflow=True)
    assert list(written_to(asked)) == ["Weights & Biases (offline): wandb", "MLflow: mlruns"]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "file:elsewhere")
    assert list(written_to(asked))[1] == "MLflow: file:elsewhere"
