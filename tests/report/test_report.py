"""A whole report from made-up runs: what is written, that it is the same every time, and the command."""

import re

import numpy as np
import pytest

from pc3d import cli
from pc3d.report.figures.boxes import return_boxes, shown_range
from pc3d.report.figures.context_maps import alignment_over_time
from pc3d.report.figures.curves import learning_curves
from pc3d.report.figures.style import svg
from pc3d.report.runs import find_runs
from pc3d.tasks.spread.rules import SpreadRules
from tests.report.made_up import add_context, add_metrics, make_run, write_references

METHODS = ("ippo", "pc3d", "gate-on", "hyper-pc3d")


@pytest.fixture(scope="module")
def made_up_runs(tmp_path_factory):
    """Two seeds of four methods on Spread, one run unfinished."""
    root, random = tmp_path_factory.mktemp("runs"), np.random.default_rng(1)
    for method in METHODS:
        for seed in (0, 1):
            scores = {size: list(-size + random.normal(size=4)) for size in range(1, 11)}
            run = make_run(root, "spread", method, seed, scores, done=(method, seed) != ("ippo", 1))
            add_metrics(run, random, level=-10.0, rise=2.0)
            if method != "ippo":
                add_context(run, random)
    players = {
        name: {size: [level * size] for size in range(1, 11)}
        for name, level in (("random", -4.0), ("scripted", -0.1))
    }
    write_references(root / "references.csv", "spread", players)
    return root


def test_the_command_writes_every_table_and_figure_and_names_what_is_missing(made_up_runs, tmp_path, capsys):
    assert cli.main(["report", str(made_up_runs), "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "spread ippo seed 1: unfinished" in printed
    assert str(tmp_path / "index.html") in printed
    for table in (
        "main-spread",
        "ablation-spread",
        "hyper-spread",
        "claims-spread",
        "differences-spread",
        "statistics-spread",
        "recovery-spread",
        "gate-spread",
        "wall-clock",
    ):
        assert (tmp_path / "tables" / f"{table}.md").exists()
        assert (tmp_path / "tables" / f"{table}.tex").exists()
    kinds = ("boxes", "curves", "stages")
    figures = [f"{prefix}{kind}-spread" for prefix in ("", "ablation-", "hyper-") for kind in kinds]
    beginning = ("overview", "overview-narrow")
    for figure in (*beginning, *figures, "context-spread", "alignment-spread", "benchmarks"):
        assert (tmp_path / "figures" / f"{figure}.png").exists()
        assert (tmp_path / "figures" / f"{figure}.svg").exists()
    document = (tmp_path / "report.md").read_text()
    assert "spread ippo seed 1: unfinished" in document
    assert document.index("Four methods learned Spread") < document.index("## Results")
    for linked in re.findall(r"\(figures/(.*?)\)", document):
        assert (tmp_path / "figures" / linked).exists()
    assert (tmp_path / "marl-eval.json").exists()


@pytest.mark.parametrize("draw", [return_boxes, learning_curves])
def test_equal_runs_give_equal_pictures(made_up_runs, draw):
    first, second = (svg(draw(find_runs([made_up_runs]), "spread", METHODS)) for _ in range(2))
    assert first == second


def test_figures_take_the_colour_of_the_page(made_up_runs):
    picture = svg(return_boxes(find_runs([made_up_runs]), "spread", METHODS))
    assert "prefers-color-scheme: dark" in picture
    assert "currentColor" in picture
    assert "#000000" not in picture


def test_a_method_far_below_the_others_does_not_squeeze_them():
    near = {"a": np.array([-10.0, -11.0]), "b": np.array([-11.0, -13.0])}
    assert shown_range({**near, "far": np.array([-60.0, -50.0])}) == (-13.0, -10.0)
    assert shown_range({**near, "next": np.array([-16.0, -14.0])}) == (-16.0, -10.0)


def test_return_definitions_of_which_neither_is_preferred_end_with_one_sentence(tmp_path, capsys):
    make_run(tmp_path, "spread", "pc3d", 0, None, rules=SpreadRules("mean"))
    make_run(tmp_path, "spread", "mappo", 0, None, rules=SpreadRules("sum"))
    assert cli.main(["report", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    assert "define the return differently" in printed.err
    assert not (tmp_path / "out").exists()


def test_an_empty_folder_ends_with_one_sentence_and_exit_code_two(tmp_path, capsys):
    assert cli.main(["report", str(tmp_path)]) == 2
    assert "there is no run" in capsys.readouterr().err


def test_contexts_that_were_measured_at_no_size_are_a_figure_without_a_legend(tmp_path):
    run = make_run(tmp_path, "spread", "pc3d", 0, {2: [-1.0]})
    (run.path / "context.json").write_text('{"rollouts": 8, "by_size": {}}')
    assert alignment_over_time(find_runs([tmp_path]), "spread") is not None
