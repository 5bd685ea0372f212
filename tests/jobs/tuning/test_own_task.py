"""A search on a task of one's own: its sizes are sealed, too, and its code runs only by the user's word."""

import sys
from dataclasses import replace

import pytest

from pc3d.cli import main
from pc3d.cli.own_task import with_world
from pc3d.cli.train import parse
from pc3d.cli.tune import parse as parse_tune
from pc3d.experiment.roster_file import growing_curriculum
from pc3d.experiment.rosters import Rosters
from pc3d.jobs.study import Group, Study
from pc3d.jobs.tuning.trial_folder import Budget, TrialFolder
from pc3d.play.hosted.crew import Hosting
from pc3d.presets.paper import custom, sealed
from pc3d.presets.preset_file import Found, Preset, read_preset, write_preset
from pc3d.runs.run_folder import RunFolder
from pc3d.tasks.registry import TASKS
from tests.jobs.tuning.searches import start_fake_worker
from tests.play.hosted.tiny import PATH, SIZES, tiny_experiment

JAX_PATH = "tests.play.hosted.jax_task:Good"
ROSTERS = Rosters(train=(2,), validation=(3,), test=(4,))
BUDGET = ["--episodes", "8", "--seeds", "1", "--rollouts", "2"]
NARROW = {
    "actor.widths": (8,),
    "actor.rnn_dim": 6,
    "critic.widths": (8,),
    "ppo.update_every_episodes": 4,
    "ppo.epochs": 1,
}


@pytest.fixture
def trial(tmp_path):
    """A trial's folder as a search on the sample task leaves it to its worker."""
    return _trial(tmp_path, tiny_experiment(method="mappo"))


def test_a_trial_trains_and_scores_without_the_test_sizes(trial):
    assert main(["tune", "trial", str(trial.path), *BUDGET, "--task", PATH]) == 0
    run = RunFolder(trial.seed(1000))
    assert run.done
    assert run.experiment().rosters == ROSTERS.sealed()
    assert run.experiment().actor.widths == (8,)
    assert trial.score() is not None
    assert len(trial.reports(Budget(8, 1, 2), (3,))) == 2


@pytest.mark.usefixtures("no_task_stays_known")
def test_a_trial_on_a_jax_task_finds_it_by_the_users_word(tmp_path):
    rosters = Rosters(train=(2,), validation=(1,), test=(3,))
    experiment = custom(JAX_PATH, "mappo", rosters, growing_curriculum(rosters.train))
    trial = _trial(tmp_path, with_world(experiment, None))
    del TASKS[JAX_PATH]
    # As many rollouts as on the way: one program less to compile.
    assert main(["tune", "trial", str(trial.path), *BUDGET, "--rollouts", "32", "--task", JAX_PATH]) == 0
    assert trial.score() is not None


@pytest.mark.usefixtures("no_task_stays_known")
@pytest.mark.parametrize("named", [[], ["--task", JAX_PATH]])
def test_no_file_of_a_trial_makes_code_run(trial, capsys, named):
    assert main(["tune", "trial", str(trial.path), *BUDGET, *named]) == 2
    assert f"name it with --task {PATH}" in capsys.readouterr().err
    assert not trial.seed(1000).exists()


def test_a_trial_with_open_sizes_is_refused(trial, capsys):
    trial.write_own_task(tiny_experiment(method="mappo"))
    assert main(["tune", "trial", str(trial.path), *BUDGET, "--task", PATH]) == 2
    assert "its team sizes are not sealed" in capsys.readouterr().err
    assert not trial.seed(1000).exists()


@pytest.mark.usefixtures("fake_workers")
def test_a_search_hands_on_the_users_words_and_sealed_sizes(tmp_path, monkeypatch, capsys):
    started = []

    def start(words, errors):
        started.append(words)
        return start_fake_worker(words, errors)

    monkeypatch.setattr("pc3d.jobs.local.start_worker", start)
    words = ["tune", PATH, "mappo", "--folder", str(tmp_path), "--workers", "1", "--trials", "2"]
    options = ["--episodes", "100", "--env-timeout", "30"]
    assert main([*words, *SIZES, *options]) == 0
    printed = capsys.readouterr().out.replace("\n", " ")
    assert "starting from usual; decided by the return at the validation sizes 3" in printed
    assert f"pc3d train {PATH} mappo --rosters FILE --preset" in printed
    folder = tmp_path / "tests.play.hosted.sample_task.make" / "mappo"
    for number, one in enumerate(started):
        told = parse_tune(one[1:])
        assert (told.task, told.hosting) == (PATH, Hosting(env_timeout=30.0))
        given = TrialFolder(folder / "trials" / f"{number:04d}").read_own_task()
        assert given.rosters == ROSTERS.sealed()
        assert given.world is not None
    assert len(started) == 2
    assert read_preset(folder / "preset.toml").task == PATH
    # PC3D's search starts from it; another set of sizes is another search.
    following = ["tune", PATH, "pc3d", "--folder", str(tmp_path), *SIZES, "--show-space"]
    assert main(following) == 0
    assert "the winner of mappo's search" in " ".join(capsys.readouterr().out.split())
    assert main([*following, "--base", "usual"]) == 0
    assert "from usual" in " ".join(capsys.readouterr().out.split())
    sizes = ["--train-sizes", "2,5", "--validation-sizes", "3", "--test-sizes", "4"]
    assert main([*words, *sizes, *options]) == 2
    assert "training sizes is 2 there and 2,5 here" in capsys.readouterr().err
    assert main([*words, *SIZES, *options, "--horizon", "2"]) == 2
    assert "the task's horizon is 6 there and 2 here" in capsys.readouterr().err


def test_what_a_search_shows_runs_nothing(tmp_path, capsys):
    broken = ["tune", "tests.play.hosted.broken_import:make", "mappo", *SIZES, "--folder", str(tmp_path)]
    assert main([*broken, "--show-space"]) == 0
    assert "ppo.learning_rate" in capsys.readouterr().out
    assert "tests.play.hosted.broken_import" not in sys.modules


def test_the_winner_of_a_search_is_trained_with(tmp_path, capsys):
    file = tmp_path / "preset.toml"
    write_preset(file, Preset(PATH, "mappo", {"ppo.epochs": 3, "critic.widths": (9,)}))
    assert f"pc3d train {PATH} mappo --rosters FILE --preset preset.toml" in file.read_text()
    experiment = parse([PATH, "pc3d", *SIZES, "--preset", str(file)]).experiment
    usual = parse([PATH, "pc3d", *SIZES]).experiment
    # The critic stays PC3D's own.
    assert experiment == replace(usual, algorithm=replace(usual.algorithm, epochs=3))
    assert main(["train", JAX_PATH, "pc3d", *SIZES, "--preset", str(file)]) == 2
    assert f"is a preset for {PATH}, not for {JAX_PATH}" in capsys.readouterr().err
    group = Group((PATH,), ("mappo",), (0,), preset=str(file), options=(" ".join(SIZES),))
    (job,) = Study("mine", (group,)).jobs(tmp_path)
    assert parse(job.train_words[1:]).experiment.algorithm.epochs == 3


@pytest.mark.parametrize("option", ["train_sizes", "validation_sizes"])
def test_what_was_chosen_at_a_size_is_not_judged_at_it(tmp_path, capsys, option):
    found = replace(Found("usual", 2, 1, 1, 8, 2, -1.0, -2.0), **{option: (4,)})
    (tmp_path / "tests.play.hosted.sample_task.make" / "mappo").mkdir(parents=True)
    file = tmp_path / "tests.play.hosted.sample_task.make" / "mappo" / "preset.toml"
    write_preset(file, Preset(PATH, "mappo", {"ppo.epochs": 3}, found))
    assert read_preset(file).found == found
    for words in (
        ["train", PATH, "mappo", *SIZES, "--preset", str(file)],
        ["tune", PATH, "pc3d", *SIZES, "--folder", str(tmp_path), "--show-space"],
        ["tune", PATH, "mappo", *SIZES, "--base", str(file), "--show-space"],
    ):
        assert main(words) == 2
        assert "was found with 4 agents, so 4 cannot be a test size" in capsys.readouterr().err


def _trial(folder, experiment):
    trial = TrialFolder(folder / "trials" / "0000")
    trial.path.mkdir(parents=True)
    write_preset(trial.preset, Preset(experiment.task, "mappo", NARROW))
    trial.write_own_task(sealed(experiment))
    return trial
