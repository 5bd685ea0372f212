"""Of runs that cannot stand in one table, which stay, and that the others are named with the reason."""

from dataclasses import replace

import pytest

from pc3d import cli
from pc3d.presets.paper import paper
from pc3d.report.check import check_shown
from pc3d.report.notes import notes
from pc3d.report.runs import find_runs
from pc3d.report.sections import about_the_runs
from pc3d.report.story import story
from pc3d.system.errors import BadInput
from pc3d.tasks.spread.rules import SpreadRules
from tests.report.made_up import make_run

SCORES = {size: [-1.0] for size in range(1, 13)}
ODD = replace(paper("spread", "pc3d").rosters, validation=(3, 5), test=(12,))
SLOWER = replace(paper("spread", "mappo").algorithm, learning_rate=1e-4)


@pytest.fixture
def play(tmp_path):
    """A scored run of Spread in a folder of this name."""

    def add(name, method="mappo", seed=0, scores=SCORES, **changes):
        return make_run(tmp_path / name, "spread", method, seed, scores, **changes).path

    return add


@pytest.fixture
def left_out(tmp_path):
    """Where the runs lie that a report leaves out, by the first part of their path."""

    def names():
        runs = find_runs([tmp_path], check=check_shown)
        return [one.path.relative_to(tmp_path).parts[0] for one in runs.left_out]

    return names


def test_of_unlike_splits_the_larger_group_stays(play, left_out):
    play("a", rosters=ODD)
    play("b", "pc3d", rosters=ODD)
    play("c", "ippo")
    assert left_out() == ["c"]


def test_of_groups_as_large_the_tasks_own_sizes_stay(play, left_out):
    play("a", rosters=ODD)
    play("b")
    assert left_out() == ["a"]


def test_what_is_scored_outweighs_what_is_not(play, left_out):
    play("a", rosters=ODD)
    play("b", scores=None)
    play("c", seed=1, scores=None)
    assert left_out() == ["b", "c"]


def test_a_report_is_made_of_the_rest_and_says_who_is_left_out_and_why(play, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("pc3d.report.write.SECTIONS", (about_the_runs,))
    odd, usual = play("odd", rosters=ODD), play("usual")
    damaged = play("worse", seed=1)
    (damaged / "context.json").write_text("{")
    assert cli.main(["report", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    told = [
        f"{odd} is left out: {usual} and {odd} cannot stand in one table: they split the team sizes "
        "differently (train 1, 2, 4, 6, 8; validation 3, 5, 7; test 9, 10 and train 1, 2, 4, 6, 8; "
        "validation 3, 5; test 12); name the folders that belong together",
        f"{damaged} is left out: {damaged / 'context.json'} is not valid JSON",
    ]
    printed = capsys.readouterr().out
    written, page = ((tmp_path / "out" / name).read_text() for name in ("report.md", "index.html"))
    for sentence in told:
        assert f"note: {sentence}" in printed
        for words in sentence.split(str(tmp_path))[1:]:
            assert words.strip(" :").replace("_", "\\_") in written.replace("\\-", "-")
            assert words.strip(" :") in page
    assert "3 runs were given; 2 left out, 1 finished and evaluated at every team size." in written
    assert "Two runs are left out, damaged or not to be compared with the others" in written


@pytest.mark.parametrize("name", ["scores.csv", "metrics.jsonl", "replays/size-2.json", "mix-fast.json"])
def test_one_damaged_file_stops_the_report_of_its_run_alone(play, tmp_path, name, left_out):
    play("whole")
    damaged = play("damaged", seed=1) / name
    damaged.parent.mkdir(exist_ok=True)
    damaged.write_text("{}\n")
    assert left_out() == ["damaged"]
    damaged.unlink()
    damaged.symlink_to(tmp_path / "whole")
    assert left_out() == ["damaged"]


def test_where_nothing_is_left_the_reason_is_one_sentence_without_python_in_it(play, tmp_path, capsys):
    play("a", rosters=ODD)
    play("b", rosters=replace(ODD, test=(11,)))
    assert cli.main(["report", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    sizes = "train 1, 2, 4, 6, 8; validation 3, 5"
    assert f"({sizes}; test 11 and {sizes}; test 12)" in told
    assert "Rosters" not in told


def test_of_two_lengths_of_one_seed_the_one_that_others_have_stays(play, left_out):
    play("a", episodes=400)
    play("b")
    play("c", "pc3d", episodes=400)
    assert left_out() == ["b"]


def test_of_two_ways_of_training_one_seed_the_one_that_other_seeds_have_stays(play, left_out):
    play("a", algorithm=SLOWER)
    play("b")
    play("c", seed=1, algorithm=SLOWER)
    assert left_out() == ["b"]


def test_where_neither_of_two_can_be_preferred_both_are_left_out(play, left_out, tmp_path):
    a = play("a", algorithm=SLOWER)
    b = play("b", algorithm=replace(SLOWER, learning_rate=2e-4))
    play("c", "pc3d")
    assert left_out() == ["a", "b"]
    reason = "(ppo.learning_rate: 0.0002 → 0.0001); name the folders that belong together"
    told = f"{a} is left out: two runs are spread mappo seed 0: {b} and {a} {reason}"
    assert told in notes(find_runs([tmp_path], check=check_shown))


def test_the_same_experiment_twice_is_refused_whatever_else_there_is(play, left_out):
    play("a")
    play("b")
    play("c", "pc3d")
    with pytest.raises(BadInput, match=r"two runs are spread mappo seed 0: .*; give one of them"):
        left_out()


def test_another_definition_of_the_return_is_left_out_in_its_own_words(play, left_out, tmp_path):
    play("a", "pc3d", rules=SpreadRules("sum"))
    play("b")
    assert left_out() == ["a"]
    (note,) = [note for note in notes(find_runs([tmp_path], check=check_shown)) if "left out" in note]
    assert "they define the return differently (sum over 25 steps of" in note


def test_the_first_screen_says_that_something_is_left_out(play, tmp_path):
    play("a", rosters=ODD)
    play("b")
    *_, also = story(find_runs([tmp_path], check=check_shown))
    assert (also.label, also.text[:20]) == ("Also", "One run is left out,")
