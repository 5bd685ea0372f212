"""The studies that come with pc3d: which runs they are, what is tried in them, and their plans."""

from pathlib import Path

import pytest
from rich.console import Console

from pc3d.cli import study_plan
from pc3d.cli.job_experiments import experiment_of
from pc3d.experiment.named_rosters import roster_named
from pc3d.experiment.roster_process import CONSTANT
from pc3d.jobs.study import load_study, with_only
from pc3d.play.arena import CompiledArena
from pc3d.presets.paper import paper, sealed
from pc3d.runs.train import check
from pc3d.system.plain import differences
from pc3d.tasks.make import make_game


def test_the_papers_study_is_all_of_the_paper():
    jobs = load_study("paper").jobs(Path("runs"))
    assert len(jobs) == 3 * 7 * 5 + 2 * 5
    assert {job.seed for job in jobs[:23]} == {0}
    assert not any(job.task == "rware" and job.method == "hyper-pc3d" for job in jobs)


def test_specialists_have_one_policy_for_each_size():
    jobs = with_only(load_study("specialists"), ("lbf",)).jobs(Path("runs"))
    alone = [job for job in jobs if "--specialist" in job.options]
    assert {job.options[-1] for job in alone} == {"2", "3", "4", "5", "6", "7", "8"}
    assert (len(alone), len(jobs)) == (2 * 7 * 3, 2 * 8 * 3)  # and the policies they are compared with


def test_specialists_on_rware_are_of_a_size_of_each_split():
    jobs = with_only(load_study("specialists"), ("rware",)).jobs(Path("runs"))
    sizes = [int(job.options[-1]) for job in jobs if "--specialist" in job.options]
    rosters = paper("rware", "pc3d").rosters
    assert sorted(map(rosters.split_of, sizes)) == ["test", "train", "validation"]


def test_the_published_study_has_three_agents_always_and_its_happo_separate_parameters():
    jobs = load_study("published").jobs(Path("runs"))
    assert len(jobs) == 4 * 3
    for job in jobs:
        experiment = experiment_of(job)
        assert (experiment.rosters.all, experiment.episodes) == ((3,), 80_000)
        assert not experiment.recipe.horizon_bootstraps
        check(experiment, CompiledArena(make_game(experiment)))
        assert experiment.algorithm.separate_actors == (job.method == "happo")


def test_every_choice_of_the_study_changes_what_it_says_and_none_sees_a_test_size():
    for job in load_study("choices").jobs(Path("runs")):
        experiment = experiment_of(job)
        usual = sealed(paper(job.task, job.method, episodes=experiment.episodes))
        changed = differences(usual, experiment)
        said = [word for word in job.options if word.startswith("--") and "." in word]
        assert len(changed) == len(said), changed
        assert len(said) < 2 or job.task == "rware"  # elsewhere one at a time
        assert experiment.rosters.test == ()


def test_mixed_teams_are_trained_with_every_view_and_never_see_a_test_mix():
    jobs = load_study("mixed-teams").jobs(Path("runs"))
    assert len(jobs) == 2 * 3 * 3 * 3
    experiments = [experiment_of(job) for job in jobs]
    assert {experiment.mixes.seen for experiment in experiments} == {"none", "own", "visible"}
    assert all(experiment.mixes.validation and not experiment.mixes.test for experiment in experiments)


def test_the_neighbours_are_scored_with_less_said_wherever_anything_is():
    jobs = load_study("neighbours").jobs(Path("runs"))
    heard = {job.method: [(way.option, way.value) for way in job.ways] for job in jobs if job.ways}
    assert heard == {
        **{method: [("--links-dropped", "0,0.15,0.5,1")] for method in ("graph", "sog")},
        "copa": [("--coach-every", "1,4,16,never")],
    }
    rows = {"graph", "ptde", "ctds", "a-qmix", "refil", "mipi", "sog", "copa"}
    for task in ("spread", "lbf"):
        seeds = {
            method: [job.seed for job in jobs if (job.task, job.method) == (task, method)] for method in rows
        }
        assert seeds == {method: [0, 1, 2] for method in rows}


def test_churn_is_trained_with_and_without_and_scored_at_half_to_four_times_its_rate():
    jobs = load_study("churn").jobs(Path("runs"))
    assert len(jobs) == 3 * 3 * 2 + 3
    for job in jobs:
        experiment = experiment_of(job)
        assert experiment.rosters.test == ()
        assert (experiment.roster == CONSTANT) == (job.folder.parent.name == "as-it-is")
        rates = [roster_named(way.value).leave for way in job.ways]
        assert [rate / roster_named("churn").leave for rate in rates] == [0.5, 1, 2, 4]
        check(experiment, CompiledArena(make_game(experiment)))


@pytest.mark.parametrize(
    "name",
    [
        *("paper", "spread", "lbf", "rware", "quick", "specialists", "choices"),
        *("factored", "off-policy", "published", "mixed-teams", "students", "neighbours", "churn"),
    ],
)
def test_the_plan_of_every_shipped_study_can_be_shown(name, minute_long_runs, tmp_path, capsys):
    jobs = load_study(name).jobs(tmp_path)
    study_plan.show_plan(jobs, 2, Console(width=200), calibrate=True)
    shown = capsys.readouterr().out
    assert shown.count("pc3d train ") == len(jobs)
    assert f"About {len(jobs) / 2:.1f} min" in shown or f"About {len(jobs) / 120:.1f} h" in shown
