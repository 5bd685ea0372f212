"""Finished runs kept as results: smaller, and the report does not change."""

import json

import numpy as np
import pytest

from pc3d.cli import main
from pc3d.evaluation.evaluation_file import write_evaluation
from pc3d.presets.paper import paper
from pc3d.report.marl_eval import marl_eval
from pc3d.report.record import record_run, thinned
from pc3d.report.runs import find_runs
from pc3d.report.write import write_report
from pc3d.runs.done_file import write_done
from pc3d.runs.metrics import LineFile, read_lines
from pc3d.system.errors import DamagedFile
from pc3d.system.files import one_owner
from tests.report.made_up import add_context, add_metrics, make_run

SCORES = {size: [-1.0 * size, -2.0] for size in range(1, 11)}


def line(stage, episodes, count, mean, **more):
    pairs = {"2": [count, mean]}
    return {
        "update": episodes,
        "episodes": episodes,
        "stage": stage,
        "return": mean,
        "return_by_size": pairs,
        **more,
    }


@pytest.fixture
def run(tmp_path, random):
    folder = make_run(tmp_path / "runs", "spread", "pc3d", 0, SCORES)
    add_metrics(folder, random, level=-50.0, rise=10.0)
    add_context(folder, random)
    folder.final.write_bytes(b"a policy")
    return folder


def test_lines_weigh_as_many_episodes_as_they_stand_for():
    (merged,) = thinned([line(1, 8, 8, -10.0, entropy=1.0), line(1, 10, 2, -20.0, entropy=2.0)], per_stage=1)
    assert merged["return"] == pytest.approx(-12.0)
    assert merged["entropy"] == pytest.approx(1.2)
    assert merged["return_by_size"] == {"2": (10, pytest.approx(-12.0))}
    assert (merged["episodes"], merged["update"], merged["stage"]) == (10, 10, 1)


def test_stages_are_never_mixed_and_no_episode_is_lost():
    lines = [line(1 + (number > 70), number, 3, float(number)) for number in range(1, 101)]
    few = list(thinned(lines, per_stage=7))
    assert [one["stage"] for one in few] == [1] * 7 + [2] * 7
    assert sum(one["return_by_size"]["2"][0] for one in few) == 300
    total = sum(one["return"] * one["return_by_size"]["2"][0] for one in few)
    assert total == pytest.approx(3 * sum(range(1, 101)))


def test_few_lines_stay_as_they_are():
    lines = [line(1, number, 1, float(number)) for number in range(1, 5)]
    assert [one["return"] for one in thinned(lines)] == [1.0, 2.0, 3.0, 4.0]


def test_a_record_makes_the_same_tables_as_the_run(run, tmp_path):
    assert main(["record", str(tmp_path / "runs"), "--out", str(tmp_path / "results")]) == 0
    for name in ("runs", "results"):
        write_report(find_runs([tmp_path / name]), tmp_path / f"report-{name}", lambda _: None)
    for table in sorted((tmp_path / "report-runs" / "tables").iterdir()):
        assert table.read_bytes() == (tmp_path / "report-results" / "tables" / table.name).read_bytes()
    recorded = tmp_path / "results" / "spread" / "pc3d" / "seed-0"
    assert len(read_lines(recorded / "metrics.jsonl")) < len(read_lines(run.metrics))
    assert (recorded / "final.safetensors").read_bytes() == b"a policy"


def test_a_record_keeps_the_learning_curve_and_marl_eval_gets_it(run, tmp_path):
    LineFile(run.evaluations).append({"update": 5, "episodes": 40, "return_by_size": {"2": -7.0}})
    assert main(["record", str(tmp_path / "runs"), "--out", str(tmp_path / "results")]) == 0
    exported = marl_eval(find_runs([tmp_path / "results"]))["spread"]["2-agents"]["pc3d"]["seed_0"]
    assert exported["step_1"] == {"step_count": 40, "mean_episode_return": [-7.0]}


def test_a_trial_whose_curve_nobody_draws_keeps_a_few_lines_of_each_stage(tmp_path, random):
    rosters = paper("lbf", "pc3d").rosters.sealed()
    folder = make_run(
        tmp_path / "tried", "lbf", "pc3d", 0, {size: [0.1] for size in range(2, 7)}, rosters=rosters
    )
    add_metrics(folder, random, level=0.1, rise=0.1)
    assert main(["record", str(tmp_path / "tried"), "--out", str(tmp_path / "kept")]) == 0
    (kept,) = find_runs([tmp_path / "kept"]).trials
    by_stage = [list(lines) for lines in kept.stages.values()]
    assert len(by_stage) == 4
    assert (
        max(map(len, by_stage))
        == 6
        < max(len(lines) for lines in find_runs([tmp_path / "tried"]).trials[0].stages.values())
    )
    assert kept.history[-1]["episodes"] == kept.experiment.episodes


def test_a_record_is_written_in_columns_of_numbers(run, tmp_path):
    record_run(run, tmp_path / "record")
    for kept in (tmp_path / "record" / "metrics.jsonl").read_text().splitlines():
        assert all(type(value) in (int, float) for value in json.loads(kept).values())


def test_only_the_methods_asked_for_keep_their_policy(run, tmp_path):
    words = ["record", str(tmp_path / "runs"), "--out", str(tmp_path / "results"), "--policies", "ippo"]
    assert main(words) == 0
    recorded = tmp_path / "results" / "spread" / "pc3d" / "seed-0"
    assert (recorded / "scores.csv").exists()
    assert not (recorded / "final.safetensors").exists()


def test_every_methods_policy_of_one_seed_is_kept_and_replays_only_of_those_asked_for(tmp_path, random):
    for method, seed in (("pc3d", 0), ("pic", 0), ("pic", 1)):
        folder = make_run(tmp_path / "runs", "spread", method, seed, SCORES)
        add_metrics(folder, random, level=-50.0, rise=10.0)
        (folder.path / "replays").mkdir()
        (folder.path / "replays" / "size-2.json").write_text("{}")
    assert main(["record", str(tmp_path / "runs"), "--out", str(tmp_path / "results")]) == 0
    kept = {
        path.relative_to(tmp_path / "results" / "spread").as_posix()
        for name in ("final.safetensors", "size-2.json")
        for path in (tmp_path / "results").rglob(name)
    }
    assert kept == {
        "pc3d/seed-0/final.safetensors",
        "pc3d/seed-0/replays/size-2.json",
        "pic/seed-0/final.safetensors",
    }


def test_a_record_that_keeps_its_policy_and_not_its_replays_can_be_read(tmp_path, random):
    folder = make_run(tmp_path / "runs", "spread", "pic", 0, SCORES)
    add_metrics(folder, random, level=-50.0, rise=10.0)
    (folder.path / "replays").mkdir()
    for size in (2, 3):
        (folder.path / "replays" / f"size-{size}.json").write_text("{}")
    write_evaluation(folder.path, {"format": 1, "backend": "jax"}, (folder.path / "scores.csv").read_bytes())
    for name, replays in (("none", []), ("kept", ["--replays", "pic"])):
        assert main(["record", str(tmp_path / "runs"), "--out", str(tmp_path / name), *replays]) == 0
        (kept,) = find_runs([tmp_path / name]).all
        assert kept.folder.final.exists()
        assert len(kept.replays) == len(replays)
    kept.replays[0].unlink()
    with pytest.raises(DamagedFile, match=r"size-2.json is missing"):
        find_runs([tmp_path / "kept"])


def test_what_a_record_was_scored_by_since_stays_while_the_policy_is_the_same(run, tmp_path):
    target, scored = tmp_path / "record", tmp_path / "record" / "scores-scaled.csv"
    write_done(run.path, {"episodes": 20_000, "updates": 313})
    record_run(run, target, with_policy=True)
    scored.write_text("scored in the record itself")
    record_run(run, target, with_policy=True)
    assert scored.exists()
    run.final.write_bytes(b"another policy")
    write_done(run.path, {"episodes": 20_000, "updates": 313})
    record_run(run, target, with_policy=True)
    assert not scored.exists()


@pytest.mark.parametrize("name", ["roster-lose-half.json", "mix-fast.json"])
def test_what_a_report_could_not_read_is_not_recorded_over_a_good_record(run, tmp_path, name):
    target = tmp_path / "record"
    record_run(run, target)
    (run.path / name).write_text("[" * 100_000)
    with pytest.raises(DamagedFile, match=name):
        record_run(run, target)
    assert sorted(path.name for path in target.parent.glob(".record*")) == []
    assert not (target / name).exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--policies", "pc3", "mappo"], "there is no method called 'pc3': perhaps you meant pc3d"),
        (["--replays", "pc3", "mappo"], "there is no method called 'pc3': perhaps you meant pc3d"),
        (["--policies-seed", "-1"], "the seed of policies must be from 0"),
    ],
)
def test_a_policy_that_nobody_has_is_not_left_out_in_silence(run, tmp_path, capsys, words, sentence):
    assert main(["record", str(tmp_path / "runs"), "--out", str(tmp_path / "results"), *words]) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert sentence in told
    assert not (tmp_path / "results").exists()


def test_unfinished_runs_are_named_and_not_recorded(tmp_path, capsys):
    make_run(tmp_path / "runs", "spread", "pc3d", 0, SCORES, done=False)
    make_run(tmp_path / "runs", "spread", "pc3d", 1, None)
    assert main(["record", str(tmp_path / "runs"), "--out", str(tmp_path / "results")]) == 0
    errors = capsys.readouterr().err
    assert "not recorded: spread pc3d seed 0: unfinished" in errors
    assert "not recorded: spread pc3d seed 1: not evaluated" in errors
    assert not (tmp_path / "results").exists()


def test_an_interrupted_record_does_not_count_and_is_made_anew(run, tmp_path, monkeypatch):
    target = tmp_path / "record"
    with monkeypatch.context() as broken:
        broken.setattr("pc3d.report.record.thinned", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            record_run(run, target, with_policy=True, with_replays=True)
    assert not (target / "done.json").exists()
    record_run(run, target)
    kept = {"experiment.json", "metrics.jsonl", "clock.jsonl"}
    assert set(json.loads((target / "done.json").read_text())["recorded"]) == kept
    assert np.isfinite([one["return"] for one in read_lines(target / "metrics.jsonl")]).all()


def test_two_runs_that_would_have_one_place_are_refused_and_nothing_is_written(tmp_path, capsys):
    sealed = paper("spread", "pc3d").rosters.sealed()
    for name, episodes in (("a", 10), ("b", 20)):
        seen = {size: [0.0] for size in sealed.all}
        run = make_run(tmp_path / name, "spread", "pc3d", 0, seen, rosters=sealed, episodes=episodes)
        run.metrics.write_text("")
    assert main(["record", str(tmp_path), "--out", str(tmp_path / "results")]) == 2
    assert "would both be recorded as" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_the_record_of_another_experiment_is_never_replaced(run, tmp_path, capsys):
    words = ["record", "--out", str(tmp_path / "results")]
    assert main([*words, str(tmp_path / "runs")]) == 0
    make_run(tmp_path / "shorter", "spread", "pc3d", 0, SCORES, episodes=7).metrics.write_text("")
    assert main([*words, str(tmp_path / "shorter")]) == 2
    assert "is the record of another experiment" in capsys.readouterr().err
    (kept,) = find_runs([tmp_path / "results"]).all
    assert kept.experiment == run.experiment()
    assert main([*words, str(tmp_path / "runs")]) == 0  # the same one may come again


def test_scores_on_the_original_package_are_kept_with_their_rules(run, tmp_path):
    scores = (run.path / "scores.csv").read_bytes()
    write_evaluation(run.path, {"format": 1, "backend": "original"}, scores)
    (run.path / "scores-original.csv").write_bytes(scores)
    assert main(["record", str(tmp_path / "runs"), "--out", str(tmp_path / "results")]) == 0
    (kept,) = find_runs([tmp_path / "results"]).all
    assert kept.evaluation_on_originals["backend"] == "original"
    (kept.folder.path / "scores-original.csv").write_bytes(scores.replace(b"-2.0", b"-3.0"))
    with pytest.raises(DamagedFile, match=r"scores-original.csv is damaged"):
        find_runs([tmp_path / "results"])


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("named", ["results", "results/spread/pc3d/seed-0"])
def test_a_record_is_not_recorded_over_itself(run, tmp_path, monkeypatch, capsys, named):
    monkeypatch.chdir(tmp_path)
    assert main(["record", "runs"]) == 0
    before = contents(tmp_path / "results")
    assert main(["record", named]) == 2
    assert "is a record itself" in capsys.readouterr().err
    assert contents(tmp_path / "results") == before


@pytest.mark.parametrize("out", [".", "replays"])
def test_a_run_is_not_recorded_into_its_own_folder(run, capsys, out):
    before = contents(run.path)
    assert main(["record", str(run.path), "--out", str(run.path / out)]) == 2
    assert "lies in the run" in capsys.readouterr().err
    assert contents(run.path) == before


def test_an_older_record_stays_until_the_new_one_is_whole(run, tmp_path, monkeypatch):
    words = ["record", str(tmp_path / "runs"), "--out", str(tmp_path / "results")]
    assert main(words) == 0
    kept = contents(tmp_path / "results")

    def power_cut(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("pc3d.report.record.write_recorded", power_cut)
        with pytest.raises(KeyboardInterrupt):
            record_run(run, tmp_path / "results/spread/pc3d/seed-0", with_policy=True, with_replays=True)
    (half,) = (tmp_path / "results/spread/pc3d").glob(".*")
    assert {
        place: content
        for place, content in contents(tmp_path / "results").items()
        if half.name not in place.parts
    } == kept
    assert len(find_runs([tmp_path / "results"]).given) == 1  # half a record is none
    assert main(words) == 0
    assert contents(tmp_path / "results") == kept


def test_two_recordings_into_one_folder_do_not_meet(run, tmp_path, capsys):
    words = ["record", str(tmp_path / "runs"), "--out", str(tmp_path / "results")]
    assert main(words) == 0
    kept = contents(tmp_path / "results")
    with one_owner(tmp_path / "results"):
        assert main(words) == 2
    assert "another process is already working" in capsys.readouterr().err
    assert contents(tmp_path / "results") == kept


def test_a_run_that_lost_its_metrics_is_not_recorded_over_a_good_record(run, tmp_path, capsys):
    words = ["record", str(tmp_path / "runs"), "--out", str(tmp_path / "results")]
    assert main(words) == 0
    kept = contents(tmp_path / "results")
    run.metrics.unlink()
    assert main(words) == 2
    assert "metrics.jsonl is missing" in capsys.readouterr().err
    assert contents(tmp_path / "results") == kept


def test_a_record_that_a_power_cut_left_aside_comes_back(run, tmp_path):
    target = tmp_path / "results/spread/pc3d/seed-0"
    record_run(run, target, with_policy=True, with_replays=True)
    kept = contents(target)
    target.rename(target.with_name(".seed-0.old"))
    run.metrics.unlink()
    with pytest.raises(DamagedFile):
        record_run(run, target, with_policy=True, with_replays=True)
    assert contents(target) == kept


def test_numbers_that_an_update_has_no_answer_for_count_in_no_mean():
    (merged,) = thinned([line(1, 8, 8, -10.0, personal=0.5), line(1, 10, 2, -20.0)], per_stage=1)
    assert merged["personal"] == 0.5
