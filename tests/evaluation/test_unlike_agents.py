"""`pc3d evaluate --mix`: policies in teams of unlike agents, and what is left of that."""

import base64
import gzip
import json
import re

import pytest

from pc3d import cli
from pc3d.evaluation.unlike import read_mix_scores
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.presets.paper import sealed
from pc3d.report.record import record_run
from pc3d.report.runs import find_runs
from pc3d.report.tables.mixes import mix_table, tasks_with_mixes
from pc3d.runs.policy import load_policy
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import BadInput
from pc3d.tasks.named_mixes import mixes_named
from tests.evaluation.policies import finished_run
from tests.small import small_experiment

SIZES = {
    "rosters": Rosters(train=(2,), validation=(3,)),
    "curriculum": Curriculum((Stage(1.0, (2,), (1.0,)),)),
}
FEW = ["--rollouts", "2", "--context-rollouts", "1"]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    mixes = mixes_named("unlike", "spread")
    run = finished_run(tmp_path_factory.mktemp("runs"), "spread", "mappo", mixes=mixes, **SIZES)
    assert cli.main(["evaluate", str(run.path), *FEW]) == 0
    return run


def test_a_run_with_mixes_is_scored_with_all_of_them(evaluated):
    found = {scores.mix: scores for scores in read_mix_scores(evaluated.path)}
    assert {name: scores.split for name, scores in found.items()} == {
        **dict.fromkeys(("even", "mostly-runners"), "train"),
        **dict.fromkeys(("mostly-haulers", "between"), "validation"),
        **dict.fromkeys(("haulers", "walkers", "beyond"), "test"),
    }
    assert (evaluated.path / "scores.csv").exists()
    assert all(len(scores.returns[size]) == 2 for scores in found.values() for size in (2, 3))
    # From the same starts, so that nothing but the agents differs.
    assert len({found[name].returns[2][0] for name in ("haulers", "walkers", "beyond")}) == 3


def test_the_file_says_what_was_played(evaluated):
    content = json.loads((evaluated.path / "mix-beyond.json").read_text())
    assert content["amounts"] == {"sprinter": 1, "giant": 1}
    assert content["kinds"]["giant"]["mass"] == 2.5
    assert content["seen"] == "visible"


def test_a_changed_file_is_refused(evaluated, tmp_path):
    text = (evaluated.path / "mix-even.json").read_text().replace('"even"', '"odd"')
    (tmp_path / "mix-even.json").write_text(text)
    with pytest.raises(BadInput):
        list(read_mix_scores(tmp_path))


def test_one_mix_can_be_watched_and_a_film_shows_no_more(evaluated, tmp_path, capsys):
    page, words = tmp_path / "team.html", ["watch", str(evaluated.path), "--team-size", "2"]
    assert cli.main([*words, "--mix", "beyond", "--out", str(page)]) == 0
    packed = re.search(r'id="replay-0">([^<]*)<', page.read_text()).group(1)
    sizes = json.loads(gzip.decompress(base64.b64decode(packed)))["world"]["sizes"]
    assert len(set(sizes)) == 2  # a sprinter and a giant
    assert cli.main([*words, "--mix", "all", "--out", str(page)]) == 2
    assert "a film shows one mix: name one of" in capsys.readouterr().err


def test_the_report_shows_them_by_mix_and_records_keep_them(evaluated, tmp_path):
    record_run(RunFolder(evaluated.path), tmp_path / "kept")
    runs = find_runs([tmp_path])
    assert tasks_with_mixes(runs) == ["spread"]
    rows = [[cell.text for cell in row] for row in mix_table(runs, "spread").rows]
    assert [row[:4] for row in rows if row[2] == "beyond"] == [["MAPPO", "visible", "beyond", "test"]]
    assert rows[0][4].endswith("(n=1)")
    assert rows[0][6] == "–"


def test_any_policy_can_play_with_unlike_agents(tmp_path, capsys):
    run = finished_run(tmp_path / "run", "spread", "mappo", **SIZES)
    words = ["evaluate", str(run.path), "--mix", "giant=1,usual=1", "--team-sizes", "2", *FEW]
    assert cli.main(words) == 0
    told = capsys.readouterr().out
    assert "giant-1-usual-1" in told
    assert f"wrote {run.path / 'mix-giant-1-usual-1.json'}" in told
    (scores,) = read_mix_scores(run.path)
    assert (scores.split, list(scores.returns)) == ("other", [2])


def test_a_sealed_policy_plays_no_other_mix(tmp_path, capsys):
    usual = small_experiment("mappo", mixes=mixes_named("unlike", "spread"), **SIZES)
    hidden = sealed(usual)
    run = finished_run(
        tmp_path, "spread", "mappo", rosters=hidden.rosters, curriculum=usual.curriculum, mixes=hidden.mixes
    )
    assert load_policy(run.path).experiment.mixes.test == ()
    assert cli.main(["evaluate", str(run.path), "--mix", "beyond"]) == 2
    assert "the mix beyond is sealed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--mix evn", "perhaps you meant even"),
        ("--mix even --world scaled", "none of --world"),
        ("--mix even --roster churn", "--roster"),
        ("--mix even --backend original", "--backend"),
        ("--backend original", "leave --backend original away"),
    ],
)
def test_what_cannot_be_scored_is_one_sentence(words, sentence, evaluated, capsys, tmp_path):
    assert cli.main(["evaluate", str(evaluated.path), "--out", str(tmp_path), *words.split()]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
