"""How long a study will take."""

import subprocess
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from pc3d.cli import study_plan
from pc3d.cli.train import parse
from pc3d.experiment.methods import METHODS
from pc3d.jobs.calibration import measured_seconds
from pc3d.jobs.projection import FIGURES, Kind, expected_seconds, project, seconds_together
from pc3d.jobs.study import load_study, with_only
from pc3d.presets.paper import paper
from pc3d.system.toml_file import read_toml
from pc3d.tasks.registry import papers
from tests.faults.folders import experiment_for, made_run
from tests.runs.runs import SETTINGS

TINY = parse(["spread", "mappo", *SETTINGS]).experiment


def test_seeds_of_one_experiment_are_timed_once(minute_long_runs):
    runs = [paper(task, "mappo", seed=seed) for task in ("spread", "lbf") for seed in range(5)]
    kinds = list(project(((run, run.episodes) for run in runs), minute_long_runs))
    assert [(kind.experiment.task, kind.runs, kind.seconds_left) for kind in kinds] == [
        ("spread", 5, 300.0),
        ("lbf", 5, 300.0),
    ]
    assert len(minute_long_runs.timed) == 2


def test_what_is_already_played_takes_no_more_time(minute_long_runs):
    run = paper("spread", "mappo")
    left = [(run, run.episodes // 4), (replace(run, seed=1), run.episodes // 2)]
    (kind,) = project(left, minute_long_runs)
    assert kind.seconds_left == pytest.approx(45.0)


def test_work_is_shared_by_the_workers_but_one_run_is_not():
    kinds = [Kind(TINY, 3 * TINY.episodes, 3, 100.0), Kind(TINY, TINY.episodes, 1, 900.0)]
    assert seconds_together(kinds, 1) == pytest.approx(1200)
    assert seconds_together(kinds, 8) == pytest.approx(900)
    assert seconds_together([], 2) == 0


def test_stages_are_taken_to_cost_as_their_mean_team_size(monkeypatch):
    monkeypatch.setattr("pc3d.jobs.calibration.median_seconds", lambda *_: 2.0)
    stages = TINY.curriculum.stages
    sizes = sum(stage.fraction * stage.mean for stage in stages) / stages[-1].mean
    assert sizes < 1
    assert measured_seconds(TINY) == pytest.approx(TINY.updates * 2.0 * sizes)


def test_a_real_update_is_timed():
    # With a constant rate the budget is no part of the program, so that it is compiled once.
    run = replace(TINY, recipe=replace(TINY.recipe, learning_rate_schedule="constant"))
    assert 0 < measured_seconds(replace(run, episodes=8)) < measured_seconds(replace(run, episodes=8000))


def test_a_job_that_is_trained_is_not_timed(tmp_path, minute_long_runs, capsys):
    (job, *others) = with_only(load_study("quick"), ("spread", "mappo")).jobs(tmp_path)
    assert not others
    made_run(job.folder, experiment_for("mappo"))
    assert job.trained
    study_plan.show_plan([job], 1, Console(width=200), calibrate=True)
    assert minute_long_runs.timed == []


def test_there_is_a_figure_for_every_run_of_the_paper():
    figures = read_toml(FIGURES, "figures")
    for task in papers():
        for method in METHODS:
            usual = paper(task, method)
            assert expected_seconds(usual) >= figures[task]["mappo"] / 3
            assert expected_seconds(replace(usual, episodes=usual.episodes // 2)) == pytest.approx(
                expected_seconds(usual) / 2, rel=1e-3
            )
    assert expected_seconds(paper("spread", "pc3d")) == figures["spread"]["pc3d"]


def test_wider_networks_and_more_agents_are_expected_to_take_longer():
    usual = paper("lbf", "pc3d")
    for words in (["--actor.widths", "512", "512"], ["--ppo.epochs", "30"], ["--train-sizes", "8-12"]):
        assert expected_seconds(parse(["lbf", "pc3d", *words]).experiment) > expected_seconds(usual)


def test_a_dry_run_imports_no_jax_and_times_nothing(tmp_path):
    program = (
        "import sys; from pc3d.cli import main; "
        f"code = main(['study', 'paper', '--dry-run', '--folder', {str(tmp_path / 'runs')!r}]); "
        "sys.exit(code or 'jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("pc3d train ") == 115
    assert "--calibrate measures here instead" in done.stdout
