"""What commands show in a log, where nothing can be redrawn."""

import io
import time
from collections.abc import Callable
from pathlib import Path

from pc3d.cli import demo, display, main
from pc3d.cli.display import LinesNowAndThen, Terminal, counted
from tests.report.made_up import make_run


def test_a_long_count_tells_a_log_how_far_it_is_and_a_short_one_nothing(monkeypatch, capsys):
    with counted("a run", 3) as advance:
        advance()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(display, "SECONDS_BETWEEN_LINES", 0.001)
    told, deadline = "", time.monotonic() + 30
    with counted("a run", 3) as advance:
        advance()
        advance("another run")
        while "another run: 2 of 3 after " not in told and time.monotonic() < deadline:
            told += capsys.readouterr().err
    assert "another run: 2 of 3 after " in told


def test_a_demo_tells_a_log_how_far_both_runs_are(monkeypatch):
    monkeypatch.setattr(display, "SECONDS_BETWEEN_LINES", 0.0)
    log = io.StringIO()
    bars = demo.Bars(Terminal(file=log), 2000)
    bars.update(bars.bars["mappo"], completed=400, state="stage 1")
    bars.show([])
    assert log.getvalue() == "mappo 400 of 2,000 episodes, stage 1; pc3d 0 of 2,000 episodes, compiling\n"


def test_a_report_draws_no_wheel_in_a_log(monkeypatch, tmp_path, capsys):
    def written(_: object, out: Path, told: Callable[[str], None]) -> Path:
        told("the page")
        return out

    monkeypatch.setattr("pc3d.cli.report.write_report", written)
    make_run(tmp_path / "runs", "spread", "pc3d", 0, {2: [-1.0]})
    assert main(["report", str(tmp_path / "runs"), "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr()
    assert "the page" not in told.out + told.err


def test_lines_now_and_then_are_not_told_before_it_is_time():
    log = io.StringIO()
    LinesNowAndThen(Terminal(file=log)).tell(lambda: "too early")
    assert log.getvalue() == ""
