"""Which runs a report takes, which it names as missing, and what it refuses."""

import json
from dataclasses import replace

import pytest

from pc3d import cli
from pc3d.experiment.methods import METHODS
from pc3d.presets.paper import paper
from pc3d.report.notes import notes
from pc3d.report.runs import find_runs
from pc3d.report.sections import context
from pc3d.runs.done_file import write_recorded
from pc3d.system.errors import BadInput
from pc3d.tasks.registry import papers
from pc3d.tasks.spread.rules import SpreadRules
from tests.report.made_up import add_context, add_metrics, make_run, write_references

SCORES = {size: [-1.0] for size in range(1, 11)}


def test_runs_are_found_at_any_depth_and_once(tmp_path):
    make_run(tmp_path / "a" / "b", "spread", "pc3d", 0, SCORES)
    make_run(tmp_path / "c", "spread", "pc3d", 1, SCORES)
    runs = find_runs([tmp_path, tmp_path / "c"])
    assert [run.name for run in runs.all] == ["spread pc3d seed 0", "spread pc3d seed 1"]


def test_an_unfinished_run_is_named_and_counts_nowhere(tmp_path, random):
    run = make_run(tmp_path, "spread", "pc3d", 0, SCORES, done=False)
    add_metrics(run, random, level=-1.0, rise=1.0)
    runs = find_runs([tmp_path])
    assert "spread pc3d seed 0: unfinished, 20,000 of 20,000 episodes" in notes(runs)
    assert runs.scored("spread", "pc3d") == []


def test_a_run_without_scores_is_named_with_what_to_do(tmp_path):
    run = make_run(tmp_path, "spread", "pc3d", 0, None)
    assert f"spread pc3d seed 0: not evaluated: pc3d evaluate {run.path}" in notes(find_runs([tmp_path]))


def test_what_to_do_about_a_run_of_own_code_names_that_code(tmp_path):
    run = make_run(tmp_path, "spread", "pc3d", 0, None)
    about = json.loads(run.experiment_file.read_text())
    about["experiment"]["method"] = "my_methods:peak"
    run.experiment_file.write_text(json.dumps(about))
    told = f"not evaluated: pc3d evaluate {run.path} --method my_methods:peak"
    assert any(told in note for note in notes(find_runs([tmp_path])))


def test_a_run_scored_at_some_sizes_only_is_named_and_counts_nowhere(tmp_path):
    run = make_run(tmp_path, "spread", "pc3d", 0, {size: [-1.0] for size in range(1, 9)})
    runs = find_runs([tmp_path])
    told = "spread pc3d seed 0: not evaluated at team sizes 9, 10, so in no table of scores: pc3d evaluate "
    assert f"{told}{run.path}" in notes(runs)
    assert runs.scored("spread", "pc3d") == []


@pytest.mark.parametrize("name", ["references.csv", "references-scaled.csv"])
def test_references_of_a_task_without_runs_are_named(name, tmp_path):
    make_run(tmp_path, "spread", "pc3d", 0, SCORES)
    write_references(tmp_path / name, "lbf", {"random": SCORES, "noop": SCORES})
    told = f"{tmp_path / name}: in no table: there is no run of lbf here"
    assert notes(find_runs([tmp_path])).count(told) == 1


def test_a_seed_that_only_other_methods_have_is_missing(tmp_path):
    for method, seed in (("pc3d", 0), ("pc3d", 1), ("mappo", 1)):
        make_run(tmp_path, "spread", method, seed, SCORES)
    assert "spread mappo: no run of seed 0" in notes(find_runs([tmp_path]))


def test_seeds_trained_unlike_are_named(tmp_path):
    make_run(tmp_path, "spread", "pc3d", 0, SCORES)
    make_run(tmp_path, "spread", "pc3d", 1, SCORES, episodes=400)
    named = "spread pc3d: its seeds differ in more than the seed (episodes: 20000 → 400)"
    assert named in notes(find_runs([tmp_path]))


def test_runs_of_another_length_than_the_papers_are_named(tmp_path):
    make_run(tmp_path, "spread", "pc3d", 0, SCORES, episodes=400)
    named = "spread: trained for 400 episodes, the paper's runs for 20,000"
    assert named in notes(find_runs([tmp_path]))


def test_the_papers_own_settings_are_no_news(tmp_path):
    for task in papers():
        for method in METHODS:
            make_run(tmp_path, task, method, 3, None)
    assert not any("settings (" in note or "settings of" in note for note in notes(find_runs([tmp_path])))


def test_settings_unlike_the_papers_and_unlike_mappos_are_named(tmp_path):
    slower = replace(paper("spread", "pc3d").algorithm, learning_rate=1e-4)
    rate = f"ppo.learning_rate: {paper('spread', 'pc3d').algorithm.learning_rate} → 0.0001"
    for seed in (0, 1):
        make_run(tmp_path, "spread", "pc3d", seed, SCORES, algorithm=slower)
        make_run(tmp_path, "spread", "mappo", seed, SCORES)
        make_run(tmp_path, "spread", "ippo", seed, SCORES)
    found = [note for note in notes(find_runs([tmp_path])) if "settings (" in note or "settings of" in note]
    assert found == [
        f"spread: pc3d does not share the settings of mappo ({rate})",
        f"spread pc3d: not trained with the paper's settings ({rate})",
    ]


def test_runs_without_contexts_or_replays_are_named(tmp_path, random):
    bare = make_run(tmp_path, "spread", "pc3d", 0, SCORES)
    whole = make_run(tmp_path, "spread", "pc3d", 1, SCORES)
    plain = make_run(tmp_path, "spread", "mappo", 0, SCORES)
    add_context(whole, random)
    (whole.path / "replays").mkdir()
    (whole.path / "replays" / "size-2.json").write_text("{}")
    assert [note for note in notes(find_runs([tmp_path])) if "replays" in note] == [
        f"spread mappo seed 0: no replays: pc3d evaluate {plain.path}",
        f"spread pc3d seed 0: no context.json and no replays: pc3d evaluate {bare.path}",
    ]
    for folder in (bare.path, plain.path):  # a record has what it was asked to keep
        write_recorded(folder, folder)
    assert not any("replays" in note for note in notes(find_runs([tmp_path])))


def test_runs_evaluated_by_different_rules_are_named(tmp_path):
    for method, actions in (("pc3d", "greedy"), ("mappo", "sampled")):
        run = make_run(tmp_path, "spread", method, 0, SCORES)
        (run.path / "evaluation.json").write_text(json.dumps({"actions": actions}))
    named = "spread: its runs were evaluated with different actions: greedy and sampled"
    assert named in notes(find_runs([tmp_path]))


def test_scores_of_another_policy_are_named(tmp_path):
    run = make_run(tmp_path, "spread", "pc3d", 0, SCORES)
    run.final.write_bytes(b"a newer policy")
    (run.path / "evaluation.json").write_text(json.dumps({"policy_sha256": "0" * 64}))
    assert any("its scores are of another final.safetensors" in note for note in notes(find_runs([tmp_path])))


def test_different_return_definitions_are_refused(tmp_path):
    make_run(tmp_path, "spread", "pc3d", 0, SCORES)
    make_run(tmp_path, "spread", "mappo", 0, SCORES, rules=SpreadRules("sum"))
    with pytest.raises(BadInput, match="cannot stand in one table: they define the return differently"):
        find_runs([tmp_path])


def test_the_same_run_twice_is_refused(tmp_path):
    make_run(tmp_path / "a", "spread", "pc3d", 0, SCORES)
    make_run(tmp_path / "b", "spread", "pc3d", 0, SCORES)
    with pytest.raises(BadInput, match="two runs are spread pc3d seed 0"):
        find_runs([tmp_path])


def test_scores_of_another_run_are_refused(tmp_path):
    run = make_run(tmp_path / "a", "spread", "pc3d", 0, SCORES)
    other = make_run(tmp_path / "b", "spread", "mappo", 0, SCORES)
    (run.path / "scores.csv").write_bytes((other.path / "scores.csv").read_bytes())
    with pytest.raises(BadInput, match="holds scores of another run than spread pc3d 0"):
        find_runs([tmp_path])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\n1,2\n", "it lacks the columns task"),
        ("task,method,seed,team_size,rollout,return\nspread,pc3d,0,1,0,nan\n", "nan, which no game gives"),
        ("task,method,seed,team_size,rollout,return\nspread,pc3d,0,1,0\n", "line 2 is not a score"),
        ("task,method,seed,team_size,rollout,return\nspread,pc3d,zero,1,0,1\n", "line 2 is not a score"),
    ],
)
def test_damaged_scores_are_refused(tmp_path, content, sentence):
    run = make_run(tmp_path, "spread", "pc3d", 0, None)
    (run.path / "scores.csv").write_text(content)
    with pytest.raises(BadInput, match=sentence):
        find_runs([tmp_path])


@pytest.mark.parametrize("name", ["evaluation.json", "context.json", "replays/size-2.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[1, 2]", b"null", b"[" * 100_000])
def test_a_damaged_file_in_a_run_is_one_sentence_that_names_it(tmp_path, capsys, monkeypatch, name, content):
    monkeypatch.setattr("pc3d.report.write.SECTIONS", (context,))
    path = make_run(tmp_path, "spread", "pc3d", 0, SCORES).path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    assert cli.main(["report", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert str(path) in errors


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("context.json", {"rollouts": 8, "by_size": [1]}),
        ("context.json", {"rollouts": float("inf"), "by_size": {}}),
        ("replays/size-2.json", {"task": ["spread"]}),
        ("replays/size-two.json", {"task": "spread", "method": "pc3d", "seed": 0, "team_size": 2}),
    ],
)
def test_a_file_of_another_kind_is_one_sentence_too(tmp_path, capsys, monkeypatch, name, content):
    test_a_damaged_file_in_a_run_is_one_sentence_that_names_it(
        tmp_path, capsys, monkeypatch, name, json.dumps(content).encode()
    )


def test_a_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(BadInput, match="there is no run"):
        find_runs([tmp_path])
