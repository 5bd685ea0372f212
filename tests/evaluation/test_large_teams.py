"""`--world`: large teams are scored in files of their own, beside the scores of the paper's sizes."""

import csv
import json
import shutil
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from PIL import Image

from pc3d import cli
from pc3d.evaluation.evaluation_file import read_evaluation
from pc3d.evaluation.references import reference_teams
from pc3d.evaluation.run import EvaluationSettings, evaluate, scored
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import score
from pc3d.system.errors import BadInput
from pc3d.tasks.described import DescribedTask
from pc3d.tasks.make import in_world
from pc3d.tasks.registry import entry_of
from tests.evaluation.policies import finished_run, small_policy

KEY = jax.random.key(0)
BRIEF = ["--rollouts", "2"]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    run = finished_run(tmp_path_factory.mktemp("runs") / "spread" / "pc3d" / "seed-0")
    assert cli.main(["evaluate", str(run.path), "--team-sizes", "12", "--world", "scaled", *BRIEF]) == 0
    return run


def rows_of(file):
    with open(file, newline="") as text:
        return list(csv.DictReader(text))


def test_scores_of_large_teams_have_files_of_their_own(evaluated):
    assert not (evaluated.path / "scores.csv").exists()
    assert not (evaluated.path / "context.json").exists()
    assert not (evaluated.path / "replays").exists()
    about = read_evaluation(evaluated.path, "-scaled")
    assert (about["world"], about["team_sizes"]) == (
        "scaled",
        [8, 12],
    )  # what it was trained with, to compare
    assert read_evaluation(evaluated.path) == {}


def test_each_row_says_how_much_agents_were_in_each_others_way(evaluated):
    for row in rows_of(evaluated.path / "scores-scaled.csv"):
        assert 0 <= float(row["hindered"]) <= 1
        assert (float(row["hindered"]) > 0) == (float(row["colliding_pairs"]) > 0)


def test_worlds_do_not_mix(evaluated, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(evaluated.path, copy)
    scaled = (copy / "scores-scaled.csv").read_bytes()
    assert cli.main(["evaluate", str(copy), "--team-sizes", "12", "--world", "crowded", *BRIEF]) == 0
    assert (copy / "scores-scaled.csv").read_bytes() == scaled
    crowded = rows_of(copy / "scores-crowded.csv")
    assert [row["team_size"] for row in crowded] == ["8", "8", "12", "12"]
    assert (
        crowded[0]["return"] == rows_of(copy / "scores-scaled.csv")[0]["return"]
    )  # small teams' is the paper's
    assert crowded[-1]["return"] != rows_of(copy / "scores-scaled.csv")[-1]["return"]
    told = capsys.readouterr().out
    assert "12" in told
    assert "8 agents are the largest training size" in told  # which nobody asked for


def test_what_is_trained_to_try_something_out_meets_no_large_team(tmp_path):
    policy = small_policy()
    sealed = replace(
        policy, experiment=replace(policy.experiment, rosters=policy.experiment.rosters.sealed())
    )
    arena = CompiledArena(in_world(policy.task, "scaled"))
    with pytest.raises(BadInput, match="team size 16 is sealed"):
        evaluate(sealed, arena, tmp_path, (16,), EvaluationSettings(rollouts=1, world="scaled"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--team-sizes", "1001", "--world", "scaled"], "spread is played by 1 to 1000 agents, not 1001"),
        (["--world", "scaled", "--backend", "original"], "either --world or --backend original"),
    ],
)
def test_impossible_wishes_are_one_sentence(evaluated, capsys, words, sentence):
    assert cli.main(["evaluate", str(evaluated.path), *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_task_that_is_only_described_has_no_other_world():
    described = DescribedTask("host", 5, (3,), ("one", "other"), "the sum", slots=2, name="mine:Task")
    with pytest.raises(BadInput, match="mine:Task has no scaled world"):
        in_world(described, "scaled")


def test_references_of_large_teams_have_a_file_of_their_own(tmp_path):
    words = ["--references", "lbf", "--team-sizes", "12", "--world", "scaled", "--out", str(tmp_path)]
    assert cli.main(["evaluate", *words, "--rollouts", "1"]) == 0
    rows = rows_of(tmp_path / "references-scaled.csv")
    assert {(row["method"], row["team_size"]) for row in rows} == {
        (name, size) for name in ("random", "noop", "scripted") for size in ("6", "12")
    }
    assert not (tmp_path / "references.csv").exists()


@pytest.mark.parametrize(("task", "size", "least"), [("spread", 24, -110), ("lbf", 24, 0.9 / 24)])
def test_scripts_solve_scaled_worlds(task, size, least):
    game = entry_of(task).make(size, world="scaled")
    assert score(CompiledArena(game), reference_teams(game)["scripted"], size, 2).returns.mean() >= least


def test_a_scripted_warehouse_of_24_robots_delivers_as_much_per_robot_as_a_small_one():
    game = entry_of("rware").make(24, world="scaled")
    scores = scored(
        CompiledArena(game), reference_teams(game)["scripted"], 24, EvaluationSettings(1, world="scaled")
    )
    assert scores.returns.mean() >= 9 * 24
    assert 0 < scores.measures["hindered"].mean() < 0.2


def test_who_waits_is_hindered_and_who_faces_a_wall_is_not():
    task = entry_of("rware").make(3)
    floor = task.floor
    state = task.reset(KEY, 3)
    cells = jnp.array([floor.cell_at(1, 0), floor.cell_at(2, 0), floor.cell_at(5, 0)], jnp.int32)
    state = replace(state, cells=cells, directions=jnp.array([3, 2, 0], jnp.int32))
    actions = jnp.ones(3, jnp.int32)
    after, _ = task.step(KEY, state, actions)
    assert task.hindered(state, actions, after).tolist() == [True, True, False]


def test_who_wants_the_cell_of_another_is_hindered_and_who_loads_is_not():
    task = entry_of("lbf").make(3)
    state = replace(task.reset(KEY, 3), positions=jnp.array([(0, 0), (0, 2), (9, 9)], jnp.int32))
    state = replace(state, food_positions=jnp.full((4, 2), 5, jnp.int32))
    actions = jnp.array([4, 3, 5])
    after, _ = task.step(KEY, state, actions)
    assert task.hindered(state, actions, after).tolist() == [True, True, False]


def test_a_large_team_can_be_watched(evaluated, tmp_path):
    film, page = tmp_path / "team.gif", tmp_path / "team.html"
    for out in (film, page):
        words = ["--team-size", "12", "--world", "scaled", "--out", str(out), "--size", "96"]
        assert cli.main(["watch", str(evaluated.path), *words]) == 0
    with Image.open(film) as image:
        assert image.n_frames == 26
    assert '"team_size":12' in page.read_text()


def test_the_viewer_is_told_of_a_larger_square_only():
    for size, told in ((8, None), (32, 2000)):
        task = entry_of("spread").make(size, world="scaled")
        state = jax.tree.map(lambda values: np.asarray(values)[None], task.reset(KEY, size))
        assert entry_of("spread").replay.load()(task, state, size).get("half_side") == told


def test_many_foods_are_told_letter_by_letter():
    task = entry_of("lbf").make(70, world="scaled")
    state = jax.tree.map(lambda values: np.asarray(values)[None], task.reset(KEY, 70))
    document = json.loads(json.dumps(entry_of("lbf").replay.load()(task, state, 70)))
    assert document["size"] == task.field.side
    assert document["food_left"] == ["1" * len(document["foods"])]
    assert len(document["foods"]) == task.field.foods == 35
