"""`pc3d evaluate` and `pc3d watch`: the files they leave, and one sentence for what cannot be."""

import csv
import json
import re
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from safetensors.numpy import save_file

from pc3d import cli
from pc3d.evaluation.evaluation_file import read_evaluation
from pc3d.evaluation.run import EvaluationSettings, evaluate
from pc3d.play.arena import CompiledArena
from pc3d.report.record import record_run
from pc3d.runs.policy import load_policy
from pc3d.system.files import one_owner
from pc3d.tasks.registry import TASKS
from pc3d.tasks.spread.world import Spread
from tests.evaluation.policies import finished_run


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    run = finished_run(tmp_path_factory.mktemp("runs") / "spread" / "pc3d" / "seed-0")
    words = ["--team-sizes", "2-3", "--rollouts", "4", "--context-rollouts", "4"]
    assert cli.main(["evaluate", str(run.path), *words]) == 0
    return run


def evaluate_two_and_three(run, out):
    policy, settings = load_policy(run), EvaluationSettings(rollouts=4, context_rollouts=4)
    return evaluate(policy, CompiledArena(policy.task), out, (2, 3), settings)


def refusal(capsys, *words) -> str:
    """The sentence that the command ends with: one line, exit code 2, no traceback."""
    assert cli.main([str(word) for word in words]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    return errors


def test_scores_are_tidy_and_sorted(evaluated):
    with open(evaluated.path / "scores.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        *("task", "method", "seed", "split", "team_size", "rollout", "return"),
        *Spread.measure_names,
    ]
    places = [(int(row["team_size"]), int(row["rollout"])) for row in rows]
    assert places == [(size, rollout) for size in (2, 3) for rollout in range(4)]
    assert {row["split"] for row in rows} == {"train", "validation"}
    for row in rows:
        assert float(row["return"]) == pytest.approx(
            -float(row["landmark_distance"]) - float(row["colliding_pairs"]), rel=1e-5
        )


def test_what_was_done_is_written_beside_the_scores(evaluated):
    about = json.loads((evaluated.path / "evaluation.json").read_text())
    assert about["actions"] == "sampled"
    assert about["backend"] == "jax"
    assert about["return_definition"] == Spread().return_definition


def test_contexts_and_replays_are_left_for_every_size(evaluated):
    contexts = json.loads((evaluated.path / "context.json").read_text())
    assert contexts["rollouts"] == 4
    assert set(contexts["by_size"]) == {"2", "3"}
    assert len(contexts["by_size"]["2"]["alignment_by_step"]) == Spread.horizon
    names = sorted(path.name for path in (evaluated.path / "replays").iterdir())
    assert names == ["size-2.json", "size-3.json"]


def test_the_replay_is_the_first_rollout_of_the_scores(evaluated):
    document = json.loads((evaluated.path / "replays" / "size-3.json").read_text())
    with open(evaluated.path / "scores.csv", newline="") as file:
        returns = [float(row["return"]) for row in csv.DictReader(file) if row["team_size"] == "3"]
    assert document["return"] == pytest.approx(returns[0], rel=1e-5)


def test_evaluating_again_gives_the_same_bytes_and_leaves_the_training_alone(evaluated, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(evaluated.path, copy)
    for path in (copy / "scores.csv", copy / "context.json"):
        path.unlink()
    words = ["--team-sizes", "2-3", "--rollouts", "4", "--context-rollouts", "4"]
    assert cli.main(["evaluate", str(copy), *words]) == 0
    for path in (file for file in evaluated.path.rglob("*") if file.is_file()):
        assert path.read_bytes() == (copy / path.relative_to(evaluated.path)).read_bytes(), path


@pytest.mark.parametrize("words", [["--team-sizes", "2"], ["--team-sizes", "2-3", "--rollouts", "3"]])
def test_fuller_scores_are_not_lost_by_mistake(evaluated, tmp_path, capsys, words):
    copy = tmp_path / "copy"
    shutil.copytree(evaluated.path, copy)
    before = (copy / "scores.csv").read_bytes()
    words = ["--rollouts", "4", "--context-rollouts", "4", *words]
    said = refusal(capsys, "evaluate", copy, *words)
    assert "holds team sizes 2, 3 with 4 rollouts each" in said
    assert "--out DIR for the new scores, or --replace" in said
    assert (copy / "scores.csv").read_bytes() == before
    assert cli.main(["evaluate", str(copy), *words, "--replace"]) == 0
    assert (copy / "scores.csv").read_bytes() != before


def test_scores_come_last_so_that_they_mark_a_whole_evaluation(evaluated, tmp_path, monkeypatch):
    copy = tmp_path / "copy"
    shutil.copytree(evaluated.path, copy)

    def power_cut(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("pc3d.evaluation.run.context_summary", power_cut)
    with pytest.raises(KeyboardInterrupt):
        evaluate_two_and_three(copy, copy)
    assert not (copy / "scores.csv").exists()
    assert not (copy / "context.json").exists()
    assert read_evaluation(copy) == {}  # the rules of the scores that are gone say nothing about what is left


def test_two_evaluations_of_one_run_do_not_mix(evaluated, capsys):
    before = (evaluated.path / "scores.csv").read_bytes()
    with one_owner(evaluated.path):
        sentence = refusal(capsys, "evaluate", evaluated.path, "--team-sizes", "2-3", "--rollouts", "4")
    assert "another process is already working" in sentence
    assert (evaluated.path / "scores.csv").read_bytes() == before


def test_a_record_without_its_policy_says_so(evaluated, tmp_path, capsys):
    record_run(evaluated, tmp_path / "record")
    assert "is a record without its policy" in refusal(
        capsys, "watch", tmp_path / "record", "--team-size", "2"
    )


def test_a_task_without_replays_is_scored_all_the_same(evaluated, tmp_path, monkeypatch):
    monkeypatch.setitem(TASKS, "spread", replace(TASKS["spread"], replay=None))
    evaluate_two_and_three(evaluated.path, tmp_path)
    assert (tmp_path / "scores.csv").read_bytes() == (evaluated.path / "scores.csv").read_bytes()
    assert list((tmp_path / "replays").iterdir()) == []


def test_a_file_alone_is_evaluated_where_out_says(evaluated, tmp_path, capsys):
    sentence = refusal(capsys, "evaluate", evaluated.final)
    assert "--out" in sentence
    words = [
        "--team-sizes",
        "2",
        "--rollouts",
        "2",
        "--backend",
        "original",
        "--out",
        str(tmp_path / "scores"),
    ]
    assert cli.main(["evaluate", str(evaluated.final), *words]) == 0
    assert {path.name for path in (tmp_path / "scores").iterdir()} == {
        "scores-original.csv",
        "evaluation-original.json",
        "lock",
    }


def test_several_policies_do_not_share_one_out_folder(evaluated, tmp_path, capsys):
    words = ["evaluate", evaluated.path, evaluated.final, "--out", tmp_path]
    assert "one policy, but 2 were given" in refusal(capsys, *words)


def test_what_cannot_be_scored_is_named_and_the_rest_is_scored(evaluated, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    folder = tmp_path / "runs-whose-name-is-far-too-long-for-a-line-of-eighty-characters-in-a-terminal"
    shutil.copytree(evaluated.path, folder / "lost")
    (folder / "lost" / "final.safetensors").unlink()
    shutil.copytree(evaluated.path, folder / "good")
    shutil.copytree(evaluated.path, folder / "unfinished")
    (folder / "unfinished" / "done.json").unlink()
    words = ["--team-sizes", "2-3", "--rollouts", "4", "--context-rollouts", "4"]
    assert cli.main(["evaluate", str(folder), *words]) == 2
    told = capsys.readouterr()
    assert f"unfinished: {folder / 'unfinished'}\n" in told.out
    assert f"\n{folder / 'good'}\n" in told.out
    assert re.search(r"\n *2 +train +-\d+\.\d\d ± \d+\.\d\d", told.out)
    assert re.search(r"\n *3 +validation +-\d+\.\d\d ± \d+\.\d\d", told.out)
    assert re.search(r"\n *all +validation +-\d+\.\d\d", told.out)
    assert told.err.startswith(f"pc3d: not scored: {folder / 'lost'}: ")
    assert "final.safetensors is missing" in told.err
    for run in ("good", "lost"):
        (folder / run / "done.json").unlink()
    assert cli.main(["evaluate", str(folder)]) == 2
    assert "no finished run" in capsys.readouterr().err


def test_references_are_scored_by_name(tmp_path, capsys):
    words = ["--references", "spread", "--team-sizes", "3", "--rollouts", "4", "--out", str(tmp_path)]
    assert cli.main(["evaluate", *words]) == 0
    with open(tmp_path / "references.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == ["random"] * 4 + ["noop"] * 4 + ["scripted"] * 4
    assert {row["seed"] for row in rows} == {"0"}


def test_a_damaged_checkpoint_is_one_sentence(evaluated, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(evaluated.path, copy)
    content = bytearray((copy / "final.safetensors").read_bytes())
    content[-5] ^= 1
    (copy / "final.safetensors").write_bytes(content)
    assert "is damaged" in refusal(capsys, "evaluate", copy)


def test_a_foreign_file_is_one_sentence(tmp_path, capsys):
    save_file({"weight": np.zeros(3)}, tmp_path / "foreign.safetensors")
    sentence = refusal(capsys, "evaluate", tmp_path / "foreign.safetensors", "--out", tmp_path)
    assert "damaged or was not written by pc3d" in sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--team-sizes", "1001"], "spread is played by 1 to 1000 agents, not 1001"),
        (["--rollouts", "0"], "rollouts must be from 1"),
        (["--context-rollouts", "-1"], "context_rollouts must be from 1"),
        (["--references", "spread"], "either runs or --references"),
    ],
)
def test_impossible_wishes_are_one_sentence(evaluated, capsys, words, sentence):
    assert sentence in refusal(capsys, "evaluate", evaluated.path, *words)


def test_an_empty_folder_holds_no_run(tmp_path, capsys):
    assert "holds no run" in refusal(capsys, "evaluate", tmp_path)
    assert "there is no" in refusal(capsys, "evaluate", tmp_path / "missing")
    assert "name at least one run" in refusal(capsys, "evaluate")


def test_watching_leaves_a_film_with_a_frame_per_moment(evaluated, tmp_path, capsys):
    film = tmp_path / "films" / "team.gif"
    assert (
        cli.main(["watch", str(evaluated.path), "--team-size", "3", "--out", str(film), "--size", "96"]) == 0
    )
    assert f"wrote {film}" in capsys.readouterr().out
    with Image.open(film) as image:
        assert image.n_frames == Spread.horizon + 1


def test_watching_can_leave_a_page(evaluated, tmp_path):
    page = tmp_path / "team.html"
    assert cli.main(["watch", str(evaluated.path), "--team-size", "3", "--out", str(page)]) == 0
    assert '"team_size":3' in page.read_text().replace(" ", "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--team-size", "0"], "spread is played by 1 to 1000 agents, not 0"),
        (["--team-size", "100000"], "spread is played by 1 to 1000 agents, not 100000"),
        (["--team-size", "2", "--rollout", "-1"], "rollouts are numbered from 0"),
        (["--team-size", "2", "--out", "film.avi"], "a .gif, .mp4 or .html file"),
        (["--team-size", "2", "--size", "1"], "64 to 4096 pixels"),
    ],
)
def test_films_that_cannot_be_are_one_sentence(evaluated, capsys, words, sentence):
    assert sentence in refusal(capsys, "watch", evaluated.path, *words)


def test_a_missing_ffmpeg_is_one_sentence(evaluated, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    words = [evaluated.path, "--team-size", "3", "--size", "64", "--out", tmp_path / "team.mp4"]
    assert cli.main(["watch", *map(str, words)]) == 2
    assert "needs ffmpeg" in capsys.readouterr().err


def test_a_policy_that_comes_with_pc3d_is_scored_by_its_name_and_not_where_it_lies(tmp_path, capsys):
    words = ["evaluate", "lbf/pc3d", "--team-sizes", "2", "--rollouts", "2", "--context-rollouts", "1"]
    assert "say with --out where its scores should go" in refusal(capsys, *words)
    assert cli.main([*words, "--out", str(tmp_path)]) == 0
    with open(tmp_path / "scores.csv", newline="") as file:
        assert {(row["task"], row["method"]) for row in csv.DictReader(file)} == {("lbf", "pc3d")}


def test_watching_one_agent_says_so_and_leaves_nothing_in_a_log(evaluated, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    words = [
        "watch",
        str(evaluated.path),
        "--team-size",
        "1",
        "--out",
        str(tmp_path / "a.gif"),
        "--size",
        "64",
    ]
    assert cli.main(words) == 0
    printed = capsys.readouterr()
    assert "seed 0, 1 agent: return" in printed.out
    assert printed.err == ""
