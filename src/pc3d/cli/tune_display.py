"""What a search shows: a table of its latest trials in a terminal, elsewhere a line for each that ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from pc3d.cli.live_table import LiveTable
from pc3d.jobs.tuning.plan import WINNER, Plan
from pc3d.jobs.tuning.records import TrialRecord, best_of
from pc3d.presets.changes import as_short_text, setting
from pc3d.presets.preset_file import train_command

if TYPE_CHECKING:
    from pc3d.jobs.tuning.search import Trial

ROWS = 15  # of the live table


class Display(LiveTable):
    """Follows a search."""

    def __init__(self, console: Console, plan: Plan, trials: int) -> None:
        super().__init__(console)
        self.plan, self.trials = plan, trials
        self.told: dict[int, str] = {}

    def show(self, records: list[TrialRecord], running: list[Trial]) -> None:
        if self.draw(lambda: self.table(records, running)):
            return
        for record in records:
            if self.told.get(record.number, "waiting") != record.state:
                self.told[record.number] = record.state
                words = (
                    f"trial {record.number}: {record.state}",
                    _returns(record),
                    _settings(self.plan, record),
                )
                self.console.print(
                    "; ".join(filter(None, (*words, record.note))), soft_wrap=True, highlight=False
                )

    def table(self, records: list[TrialRecord], running: list[Trial]) -> Table:
        """The trials that run, then the best ones."""
        ended = sum(record.ended for record in records)
        best = best_of(records)
        title = f"{ended} of {self.trials} trials ended"
        title += f"; best so far: trial {best.number}, {_returns(best)}" if best else ""
        table = Table(title=title, title_justify="left")
        for heading in ("trial", "state", "return", "settings unlike the first trial's"):
            table.add_column(heading, overflow="fold")
        episodes = {one.record.number: one.folder.episodes(self.plan.budget) for one in running}
        order = sorted(records, key=lambda one: (one.state != "running", -one.validation, -one.number))
        for record in order[:ROWS]:
            state = f"{episodes[record.number]:,} episodes" if record.number in episodes else record.state
            table.add_row(str(record.number), state, _returns(record), _settings(self.plan, record))
        return table


def winner_table(plan: Plan, records: list[TrialRecord], importances: dict[str, float]) -> Table:
    """The winner, setting by setting."""
    best = best_of(records)
    assert best is not None  # results are only written with one
    table = Table(title=f"Trial {best.number} of {len(records)} won: {_returns(best)}", title_justify="left")
    for heading in ("setting", "first trial", "winner", "importance"):
        table.add_column(heading)
    for row in sorted(plan.rows, key=lambda row: -importances.get(row.setting, 0.0)):
        share = importances.get(row.setting)
        values = (setting(plan.base, row.setting), best.settings[row.setting])
        shown = (as_short_text(value) for value in values)
        table.add_row(row.setting, *shown, "" if share is None else f"{share:.0%}")
    return table


def places(plan: Plan, folder: Path) -> str:
    """Where everything is, and what to do with it."""
    preset = folder / WINNER
    return (
        f"trials: {folder / 'trials.csv'}\npicture: {folder / 'search.png'}\npreset: {preset}\n"
        f"train with it: {train_command(plan.base.task, plan.base.method, preset)}"
    )


def _returns(record: TrialRecord) -> str:
    if record.score is None:
        return ""
    return f"validation {record.score.validation:.3f}, train {record.score.train:.3f}"


def _settings(plan: Plan, record: TrialRecord) -> str:
    """Only what differs from the base."""
    unlike = {name: value for name, value in record.settings.items() if value != setting(plan.base, name)}
    own = f"{plan.base.algorithm.section}."
    return " ".join(f"{name.removeprefix(own)}={as_short_text(value)}" for name, value in unlike.items())
