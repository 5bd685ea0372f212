"""A study's jobs: which there are, and that each is done once whatever happens in between."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from pc3d.cli import evaluate, main, parsed
from pc3d.cli.changing_teams import rosters_asked_for
from pc3d.cli.study import with_records
from pc3d.cli.train import parse
from pc3d.evaluation.run import DEFAULT_SETTINGS
from pc3d.jobs.study import Group, Job, Study, load_study
from pc3d.system.errors import BadInput
from tests.docs.pages import ROOT, blocks
from tests.runs.runs import SETTINGS, done_here, results

FILE = f"""
about = "Two tiny runs."
rollouts = 2

[[groups]]
tasks = ["spread"]
methods = ["mappo"]
seeds = [0, 1]
options = ["{" ".join(SETTINGS)}", "--checkpoint-every 8"]
"""
GROUP = 'about = "x"\n[[groups]]\ntasks = ["lbf"]\nmethods = ["pc3d"]\nseeds = [0]'
COMMON = ("--episodes", "50", "--sealed", "True")


@pytest.fixture
def study_file(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A study that was killed in its middle and begun again; tests/faults kill its workers."""
    folder = tmp_path_factory.mktemp("killed")
    (folder / "tiny.toml").write_text(FILE)
    process = start(folder / "tiny.toml", folder / "study")
    wait_for(lambda: list(folder.glob("study/spread/mappo/seed-*/checkpoint/0*.safetensors")), process)
    process.kill()
    process.communicate()
    process = start(folder / "tiny.toml", folder / "study")
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    return folder / "study"


def start(study_file: Path, folder: Path) -> subprocess.Popen:
    words = [
        sys.executable,
        "-m",
        "pc3d",
        "study",
        str(study_file),
        "--folder",
        str(folder),
        "--workers",
        "2",
    ]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_variations_are_runs_of_their_own_beside_each_other():
    words = ("", "--recipe.gate-offset -1", "--recipe.gate-offset 1")
    group = Group(("lbf",), ("pc3d",), (0,), episodes=50, sealed=True, variations=words)
    jobs = Study("variations", (group,)).jobs(Path("runs"))
    assert {job.folder.relative_to("runs/lbf/pc3d"): job.options[2:] for job in jobs} == {
        Path("as-it-is/seed-0"): COMMON,
        Path("recipe.gate-offset--1/seed-0"): (*COMMON, "--recipe.gate-offset", "-1"),
        Path("recipe.gate-offset-1/seed-0"): (*COMMON, "--recipe.gate-offset", "1"),
    }
    assert jobs[0].name == "lbf pc3d seed 0 as-it-is"


def test_the_study_on_its_page_is_a_study(tmp_path):
    shown, own = blocks(ROOT / "docs" / "studies.md", "toml")
    assert own == (ROOT / "examples/own_task/study.toml").read_text()
    (tmp_path / "mine.toml").write_text(shown)
    jobs = load_study(str(tmp_path / "mine.toml")).jobs(tmp_path)
    assert len(jobs) == 3 * 3
    for job in jobs:
        assert parse(job.train_words[1:]).experiment.episodes == 6000


def test_a_run_is_done_when_it_was_scored_in_every_way_that_the_study_asks_for(tmp_path):
    group = Group(("lbf",), ("graph", "copa", "pc3d"), (0,), links_dropped=(0.0, 0.15), coach_every=(1, 0))
    graph, copa, pc3d = (job for method in group.methods for job in jobs_of(group, method, tmp_path))
    assert [[(way.option, way.value) for way in job.ways] for job in (graph, copa, pc3d)] == [
        [("--links-dropped", "0,0.15")],
        [("--coach-every", "1,never")],
        [],
    ]
    for job, file in ((graph, "links.json"), (copa, "coach.json"), (pc3d, None)):
        job.folder.mkdir(parents=True)
        assert job.next_words() == job.train_words
        (job.folder / "done.json").touch()
        assert job.next_words() == job.evaluate_words
        (job.folder / "scores.csv").touch()
        assert job.done == (file is None)
        assert job.next_words() == [
            word for way in job.ways for word in (*job.evaluate_words, way.option, way.value)
        ]
        if file is not None:
            assert parsed(evaluate.Command, "evaluate", job.next_words()[1:]).settings.rollouts == 2
            (job.folder / file).touch()
        assert job.done
        assert job.next_words() == []


def test_a_run_is_scored_by_one_roster_after_the_other_until_all_have_left_their_file(tmp_path):
    rosters = ("churn", "churn:leave=8,join=8")
    (job,) = Study("changing", (Group(("lbf",), ("pc3d",), (0,), rosters=rosters),)).jobs(tmp_path)
    job.folder.mkdir(parents=True)
    for file in ("done.json", "scores.csv"):
        (job.folder / file).touch()
    for roster, file in zip(rosters, ("roster-churn.json", "roster-churn-leave-8-join-8.json"), strict=True):
        assert not job.done
        assert job.next_words() == [*job.evaluate_words, "--roster", roster]
        (asked_for,) = rosters_asked_for(roster, DEFAULT_SETTINGS, 8)
        assert asked_for.file == file
        (job.folder / file).touch()
    assert job.done


def jobs_of(group: Group, method: str, folder: Path) -> list[Job]:
    return [job for job in Study("less", (group,), rollouts=2).jobs(folder) if job.method == method]


def test_the_same_job_twice_is_refused():
    group = Group(("spread",), ("mappo",), (0,))
    with pytest.raises(BadInput, match="same task, method and seed twice"):
        Study("twice", (group, group)).jobs(Path("runs"))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("about = 1\ngroups = []", "about must be text"),
        ('about = "x"', "lacks groups"),
        ('about = "x"\n[[groups]]\ntasks = ["sprad"]\nmethods = []\nseeds = []', "perhaps you meant spread"),
        ('about = "x"\n[[groups]]\ntasks = []\nmethods = ["pcd3"]\nseeds = []', "perhaps you meant pc3d"),
        ('about = "x"\n[[groups]]\ntask = []', "perhaps you meant tasks"),
        ("about = [[[", "not a valid study file"),
        (f"{GROUP}\nspecialists = true\nvariations = ['']", "neither be sealed nor varied"),
        (f"{GROUP}\nspecialists = true\nsealed = true", "neither be sealed nor varied"),
        (f"{GROUP}\nvariations = ['']", "need sealed = true"),
        (f"{GROUP}\nlinks_dropped = [2.0]", "links_dropped must be from 0 to 1, not 2"),
        (f"{GROUP}\nrosters = ['chrun']", "perhaps you meant churn"),
        (f"{GROUP}\nrosters = ['constant']", "with a constant roster nothing changes"),
        (f"{GROUP}\nrosters = ['mine.toml']", "a study's rosters are names, such as churn"),
        (f"{GROUP}\nrosters = ['churn:leave=4{' ' * 300},join=4']", "of at most 100 characters"),
        (f"{GROUP}\nrosters = ['churn', 'churn']", "two of them leave roster-churn.json"),
        (f"{GROUP}\nspecialists = true\nrosters = ['churn']", "are for policies of several sizes"),
        (f"{GROUP}\ncoach_every = [-1]", "coach_every must be from 0 to 10,000, not -1"),
        (f"{GROUP}\nsealed = true\nvariations = ['--sealed False']", "cannot have --sealed"),
        (f"{GROUP}\nsealed = true\nvariations = ['', ' ']", "twice"),
        (
            f"{GROUP}\nsealed = true\nvariations = ['', '--recipe.environments 8']",
            "as-it-is and lbf pc3d seed 0 recipe.environments-8 of this study are the same run",
        ),
        (
            f"{GROUP}\nsealed = true\noptions = ['--rosters.validation 3 5 7 --rosters.test 8']",
            "7 agents are one of them",
        ),
    ],
)
def test_a_bad_study_file_is_one_sentence_and_exit_code_2(tmp_path, capsys, content, sentence):
    path = tmp_path / "bad.toml"
    path.write_text(content)
    assert main(["study", str(path), "--dry-run"]) == 2
    errors = capsys.readouterr().err
    assert sentence in errors
    assert "Traceback" not in errors


def test_a_file_may_begin_with_the_mark_that_some_editors_leave(tmp_path):
    (path := tmp_path / "marked.toml").write_text(f"\ufeff{GROUP}")
    assert main(["study", str(path), "--dry-run"]) == 0


def test_a_file_in_another_encoding_is_said_to_be_one(tmp_path, capsys):
    (path := tmp_path / "other.toml").write_text(GROUP, encoding="utf-16")
    assert main(["study", str(path), "--dry-run"]) == 2
    assert "it is not text in UTF-8" in capsys.readouterr().err


def test_a_folder_that_is_a_file_is_refused_before_any_worker_finds_out(tmp_path, capsys):
    (path := tmp_path / "study.toml").write_text(GROUP)
    assert main(["study", str(path), "--folder", str(path), "--dry-run"]) == 2
    assert f"{path} is no folder" in capsys.readouterr().err


def test_a_plan_tells_other_sizes_and_stages_in_few_words(tmp_path, capsys):
    options = "--train-sizes 2,3 --validation-sizes 4 --test-sizes 5"
    (path := tmp_path / "sizes.toml").write_text(f"{GROUP}\noptions = ['{options}']")
    assert main(["study", str(path), "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "Stage(" not in told
    assert len(told.splitlines()) < 30


def test_a_misspelt_option_is_noticed_before_anything_begins(tmp_path, capsys):
    path = tmp_path / "bad.toml"
    path.write_text(f"{GROUP}\noptions = ['--recipe.enviroments 8']")
    assert main(["study", str(path), "--folder", str(tmp_path / "study")]) == 2
    assert "--recipe.environments" in capsys.readouterr().err
    assert not (tmp_path / "study").exists()


def test_a_killed_study_ends_with_the_files_of_undisturbed_runs(tmp_path, study_file, killed):
    assert (killed / "report" / "index.html").exists()
    jobs = load_study(str(study_file)).jobs(killed)
    assert len(jobs) == 2
    for job in jobs:
        assert results(job.folder) == results(done_here(job, tmp_path))


def wait_for(condition, process):
    deadline = time.monotonic() + 300
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_recorded_runs_of_the_same_experiment_count_as_done(tmp_path, study_file, killed, capsys):
    first, second, results = str(killed), str(tmp_path / "second"), str(tmp_path / "results")
    assert main(["record", first, "--out", results]) == 0
    capsys.readouterr()
    assert main(["study", str(study_file), "--folder", second, "--recorded", results]) == 0
    assert "2 jobs, 2 of them done" in capsys.readouterr().out
    assert [path.name for path in Path(second).iterdir()] == ["report"]
    tables = [
        (Path(folder) / "report" / "tables" / "main-spread.md").read_text() for folder in (first, second)
    ]
    assert tables[0] == tables[1]
    study_file.write_text(study_file.read_text().replace("--ppo.epochs 2", "--ppo.epochs 3"))
    jobs = with_records(load_study(str(study_file)).jobs(Path(second)), Path(second), Path(results))
    assert [job.done for job in jobs] == [False, False]
