"""Own tasks from the command line: trained, scored, filmed; and their code runs only if it is named."""

import csv
import json
import sys
from dataclasses import dataclass

import pytest
from PIL import Image

from pc3d.cli import main
from pc3d.cli.own_task import _own_words, look_at
from pc3d.experiment.world import LONGEST_ABOUT
from pc3d.play.arena import CompiledArena
from pc3d.play.hosted.crew import DEFAULT_HOSTING, Source
from pc3d.presets.preset_file import Preset, write_preset
from pc3d.runs.checkpoint import read_file, save_tree
from pc3d.runs.policy import load_policy
from pc3d.runs.train import Habits, train
from pc3d.system.errors import Diverged
from pc3d.tasks.registry import TASKS
from pc3d.tasks.task import Task
from tests.play.hosted.jax_task import AllowsNothing, Good
from tests.play.hosted.sample_task import STEPS, make
from tests.play.hosted.tiny import PATH, SIZES, TINY
from tests.probes import probe_experiment

JAX_PATH = "tests.play.hosted.jax_task:Good"
pytestmark = pytest.mark.usefixtures("no_task_stays_known")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own") / "run"
    assert main(["train", PATH, "pc3d", *SIZES, *TINY, "--folder", str(folder), "--env-workers", "2"]) == 0
    return folder


@pytest.fixture(scope="module")
def trained_jax(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jax") / "run"
    words = ["--train-sizes", "2", "--test-sizes", "3"]
    assert main(["train", JAX_PATH, "mappo", *words, *TINY, "--folder", str(folder)]) == 0
    del TASKS[JAX_PATH]
    return folder


def refusal(capsys, *words):
    assert main([str(word) for word in words]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    return errors


def test_the_same_command_finds_the_run_finished(trained, capsys):
    assert main(["train", PATH, "pc3d", *SIZES, *TINY, "--folder", str(trained)]) == 0
    assert "already finished" in capsys.readouterr().out


def documented(team_size):
    """Agents on a line
    should meet

    Whoever reads this far is not reading a report.
    """
    return make(team_size)


def test_a_task_is_known_by_the_beginning_of_its_docstring_if_it_has_one():
    here = f"{__name__}:documented"
    for path, about in ((here, "Agents on a line should meet."), (PATH, "")):
        assert look_at(path, (2,), None, DEFAULT_HOSTING).world.about == about
    (*_, last) = look_at(JAX_PATH, (2,), None, DEFAULT_HOSTING).world.about.split()
    assert last == "fills."


def test_a_signature_in_the_place_of_a_docstring_says_nothing_of_the_game():
    assert _own_words(Bare) == ""
    assert len(_own_words(type("Long", (), {"__doc__": "word " * 1000}))) <= LONGEST_ABOUT + 1


@dataclass(frozen=True)
class Bare:
    slots: int


def test_a_run_describes_its_task(trained):
    world = json.loads((trained / "experiment.json").read_text())["experiment"]["world"]
    assert world["horizon"] == STEPS
    assert world["observation_shape"] == [2]


def test_a_named_task_is_scored_at_every_size(trained, capsys):
    assert main(["evaluate", str(trained), "--task", PATH, "--rollouts", "3", "--context-rollouts", "2"]) == 0
    with open(trained / "scores.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["team_size"] for row in rows] == [str(size) for size in (2, 3, 4) for _ in range(3)]
    assert rows[-1]["split"] == "test"
    assert all(float(row["return"]) <= 0 for row in rows)
    contexts = json.loads((trained / "context.json").read_text())
    assert len(contexts["by_size"]["4"]["alignment_by_step"]) == STEPS


def test_a_named_task_is_filmed_as_it_draws_itself(trained, tmp_path):
    film = tmp_path / "film.gif"
    assert main(["watch", str(trained), "--team-size", "3", "--task", PATH, "--out", str(film)]) == 0
    with Image.open(film) as image:
        assert image.n_frames == STEPS + 1


def references(folder, path, *sizes):
    """The rows of a file with the references of an own task, two of each size."""
    words = ["--references", path, *sizes, "--rollouts", "2", "--out", str(folder)]
    assert main(["evaluate", *words]) == 0
    with open(folder / "references.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_references_of_an_own_task_are_scored(tmp_path):
    (tmp_path / "rosters.toml").write_text("train = [2]\ntest = [3]\n")
    rows = references(tmp_path, PATH, "--rosters", str(tmp_path / "rosters.toml"))
    assert [(row["method"], row["split"]) for row in rows[::2]] == [("random", "train"), ("random", "test")]


def test_references_of_a_jax_task_are_called_as_its_runs_are(tmp_path):
    rows = references(tmp_path, JAX_PATH, "--train-sizes", "2", "--test-sizes", "3")
    assert [(row["task"], row["split"]) for row in rows[::2]] == [(JAX_PATH, "train"), (JAX_PATH, "test")]


def test_team_sizes_are_for_references_of_own_tasks_alone(trained, capsys):
    for words in ([trained], ["--references", "spread", "--out", trained]):
        sentence = refusal(capsys, "evaluate", *words, "--train-sizes", "2")
        assert "are for the references of an own task" in sentence
    assert "needs its team sizes" in refusal(capsys, "evaluate", "--references", PATH, "--out", trained)


@pytest.mark.parametrize("command", [["evaluate"], ["watch", "--team-size", "2"]])
def test_code_that_a_file_names_does_not_run_unless_it_is_named_again(trained, command, capsys):
    sentence = refusal(capsys, command[0], trained, *command[1:])
    assert f"name it with --task {PATH}" in sentence
    sentence = refusal(
        capsys, command[0], trained, *command[1:], "--task", "tests.play.hosted.sample_task:Shifted"
    )
    assert "not tests.play.hosted.sample_task:Shifted" in sentence


def test_a_policy_that_names_a_trap_is_read_without_stepping_into_it(trained, tmp_path, monkeypatch):
    (tmp_path / "trap.py").write_text("raise SystemExit('the trap was sprung')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    _, description = read_file(trained / "final.safetensors")
    description["experiment"]["task"] = "trap:make"
    save_tree(tmp_path / "trap.safetensors", load_policy(trained).networks, description)
    assert load_policy(tmp_path / "trap.safetensors").task.name == "trap:make"
    assert main(["evaluate", str(tmp_path / "trap.safetensors"), "--out", str(tmp_path)]) == 2
    assert "trap" not in sys.modules


def test_a_jax_task_is_trained_and_scored_by_its_path(trained_jax, capsys):
    words = ["evaluate", str(trained_jax), "--rollouts", "3"]
    assert f"--task {JAX_PATH}" in refusal(capsys, *words)
    assert main([*words, "--task", JAX_PATH]) == 0
    with open(trained_jax / "scores.csv", newline="") as file:
        assert {row["team_size"] for row in csv.DictReader(file)} == {"2", "3"}


def test_a_jax_task_is_filmed_as_it_draws_itself(trained_jax, tmp_path, monkeypatch, capsys):
    film = tmp_path / "film.gif"
    words = ["watch", str(trained_jax), "--team-size", "3", "--task", JAX_PATH, "--out", str(film)]
    assert main([*words, "--size", "64"]) == 0
    with Image.open(film) as image:
        assert image.n_frames == Good.horizon + 1
    capsys.readouterr()
    monkeypatch.setattr(Good, "draw", lambda *_, **__: 1 / 0)
    raised = "cannot be filmed: draw raised ZeroDivisionError: division by zero (test_own_tasks.py"
    assert f"{JAX_PATH} {raised}" in refusal(capsys, *words)
    monkeypatch.setattr(Good, "draw", Task.draw)
    assert f"{JAX_PATH} has no picture: give it a draw method" in refusal(capsys, *words)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("CountsEverybody", "a team plays otherwise in a world with 3 slots than in one with 1"),
        ("ShowsGhosts", "observe must give zeros for slots that nobody fills"),
        ("RewardsEach", "the reward of a step is one number for the team"),
        ("DecidesInPython", "step asks an array for its value (jax_task.py, line "),
        ("AllowsNothing", "available_actions allows somebody no action: leave everybody one"),
    ],
)
def test_a_jax_task_that_breaks_a_promise_is_refused_with_the_promise(name, sentence, capsys):
    path = f"tests.play.hosted.jax_task:{name}"
    assert sentence in refusal(capsys, "train", path, "mappo", "--train-sizes", "1,3")


def test_a_jax_task_says_which_sizes_it_has(capsys):
    sentence = refusal(capsys, "train", JAX_PATH, "mappo", "--train-sizes", "2-5")
    assert f"{JAX_PATH} is played by 1 to 3 agents, not 4" in sentence


def test_a_jax_task_is_checked_with_the_sizes_it_has(capsys, monkeypatch):
    monkeypatch.setattr(Good, "smallest_team", 2)
    assert main(["check", JAX_PATH]) == 0
    assert f"{JAX_PATH} is fine with team sizes 2-3" in capsys.readouterr().out
    monkeypatch.setattr(Good, "smallest_team", 3)
    monkeypatch.setattr(Good, "return_definition", None)
    assert main(["check", JAX_PATH]) == 2
    assert "return_definition must be a sentence, not None\n" in capsys.readouterr().out
    monkeypatch.setattr(Good, "largest_team", None)
    assert main(["check", JAX_PATH]) == 2
    assert "problem: largest_team must be a whole number, not None\n" in capsys.readouterr().out


def test_an_environment_that_changed_since_training_is_one_sentence(trained, monkeypatch, capsys):
    changed = Source("own", "tests.play.hosted.sample_task:DoubleViews")
    monkeypatch.setattr("pc3d.play.opening.Source", lambda *_: changed)
    assert main(["evaluate", str(trained), "--task", PATH, "--rollouts", "2", "--replace"]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]  # a progress bar may have been shown before it
    assert "now shows 4 numbers to an agent, but this policy was made for 2" in last


@pytest.fixture(scope="module")
def study_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "own.toml"
    options = " ".join((*SIZES, *TINY))
    path.write_text(
        f'about = "Two methods on a task of ours."\nrollouts = 2\n[[groups]]\ntasks = ["{PATH}"]\n'
        f'methods = ["mappo", "pc3d"]\nseeds = [0]\noptions = ["{options}"]\n'
    )
    return path


@pytest.mark.slow
def test_a_study_of_an_own_task_ends_with_a_report_and_is_not_done_again_once_recorded(
    study_file, tmp_path, capsys
):
    words = ["study", str(study_file), "--task", PATH]
    assert main([*words, "--folder", str(tmp_path / "study")]) == 0
    page = (tmp_path / "study/report/report.md").read_text()
    assert "PC3D-MAPPO" in page
    assert PATH in page.replace("\\", "")  # Markdown escapes the underscore
    assert main(["record", str(tmp_path / "study"), "--out", str(tmp_path / "kept")]) == 0
    folder = PATH.replace(":", ".")
    for method in ("mappo", "pc3d"):
        assert (tmp_path / "study" / folder / method / "seed-0/scores.csv").exists()
        assert (tmp_path / "kept" / folder / method / "seed-0/scores.csv").exists()
    capsys.readouterr()
    again = ["--folder", str(tmp_path / "again"), "--recorded", str(tmp_path / "kept"), "--dry-run"]
    assert main([*words, *again]) == 0
    assert "2 jobs, 2 of them done" in capsys.readouterr().out


def test_a_study_file_alone_runs_no_code(study_file, tmp_path, capsys):
    words = ("study", study_file, "--folder", tmp_path / "study")
    assert f"name it with --task {PATH}" in refusal(capsys, *words)
    assert "has no own task called a.b:c" in refusal(capsys, *words, "--task", PATH, "a.b:c")
    assert "on one machine" in refusal(capsys, *words, "--task", PATH, "--ray", "127.0.0.1:1")
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("specialists = true", "for the tasks that come with pc3d"),
        ('preset = "missing.toml"', "cannot be read"),
        ('preset = "spread.toml"', "is a preset for spread"),
    ],
)
def test_what_does_not_fit_a_study_of_own_tasks(tmp_path, capsys, more, sentence):
    path = tmp_path / "own.toml"
    group = f'tasks = ["{PATH}"]\nmethods = ["pc3d"]\nseeds = [0]\noptions = ["--train-sizes 2"]\n{more}\n'
    path.write_text(f'about = "x"\n[[groups]]\n{group}')
    write_preset(tmp_path / "spread.toml", Preset("spread", "pc3d", {}))
    assert sentence in refusal(capsys, "study", path, "--task", PATH)


def test_an_own_task_that_cannot_be_loaded_stops_the_study_before_it_begins(study_file, tmp_path, capsys):
    path = tmp_path / "own.toml"
    path.write_text(study_file.read_text().replace(PATH, "tests.play.hosted.sample_task:nothing"))
    words = ("study", path, "--folder", tmp_path / "study", "--task", "tests.play.hosted.sample_task:nothing")
    assert "has no nothing" in refusal(capsys, *words)
    assert not (tmp_path / "study").exists()


def test_jax_tasks_of_real_numbers_and_with_masks_are_fine(capsys):
    for name, words in (("Aiming", "aim from -2 to 4"), ("AllowsNothingAfterTheEnd", "masks say which")):
        assert main(["check", f"tests.play.hosted.jax_task:{name}", "--team-sizes", "1-3"]) == 0
        assert words in capsys.readouterr().out


def test_a_mask_that_allows_nothing_ends_a_training_that_meets_it(tmp_path):
    experiment, arena = probe_experiment("ippo", updates=1), CompiledArena(AllowsNothing(3))
    with pytest.raises(Diverged, match="at update 1: the task's mask allows somebody no action"):
        train(experiment, arena, tmp_path, Habits(tensorboard=False))
