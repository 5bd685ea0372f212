"""What a search shows: a table of its latest trials in a terminal, elsewhere a line for each that ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from pc3d.cli.display import LiveDisplay, table
from pc3d.jobs.tuning.plan import WINNER, Plan
from pc3d.jobs.tuning.trial_folder import TrialRecord, best_of
from pc3d.presets.changes import as_short_text, setting
from pc3d.presets.preset_file import train_command
from pc3d.system.plain import amount

if TYPE_CHECKING:
    from pc3d.jobs.tuning.search import Trial

ROWS = 15  # of the live table


class Display(LiveDisplay):
    def __init__(self, console: Console, plan: Plan, trials: int) -> None:
        super().__init__(console)
        self.plan, self.trials = plan, trials

    def show(self, records: list[TrialRecord], running: list[Trial]) -> None:
        if self.draw(lambda: self.table(records, running)):
            return
        for record in records:
            more = filter(None, (_returns(record), _settings(self.plan, record), record.note))
            self.tell(f"trial {record.number}", record.state, "".join(f"; {words}" for words in more))

    def table(self, records: list[TrialRecord], running: list[Trial]) -> Table:
        """The trials that run, then the best ones."""
        ended = sum(record.ended for record in records)
        best = best_of(records)
        title = f"{ended} of {amount(self.trials, 'trial')} ended"
        title += f"; best so far: trial {best.number}, {_returns(best)}" if best else ""
        headings = ("trial", "state", "return", "settings unlike the first trial's")
        order = sorted(records, key=lambda one: (one.state != "running", -one.validation, -one.number))
        states = {one.record.number: f"{one.folder.episodes(self.plan.budget):,} episodes" for one in running}
        rows = (
            (
                str(record.number),
                states.get(record.number, record.state),
                _returns(record),
                _settings(self.plan, record),
            )
            for record in order[:ROWS]
        )
        return table(title, headings, rows)


def space_table(plan: Plan) -> Table:
    """What is searched, and around which values."""
    base = plan.base
    title = f"{base.task} {base.method}: {len(plan.rows)} settings are searched, from {plan.base_name}"
    rows = ((row.setting, str(row.tried), as_short_text(setting(base, row.setting))) for row in plan.rows)
    return table(title, ("setting", "tried", "first trial"), rows)


def winner_table(plan: Plan, records: list[TrialRecord], importances: dict[str, float]) -> Table:
    """The winner, setting by setting."""
    best = best_of(records)
    assert best is not None  # results are only written with one
    shares = {name: f"{share:.0%}" for name, share in importances.items()}
    names = sorted((row.setting for row in plan.rows), key=lambda name: -importances.get(name, 0.0))
    rows = (
        (name, *map(as_short_text, (setting(plan.base, name), best.settings[name])), shares.get(name, ""))
        for name in names
    )
    title = f"Trial {best.number} of {len(records)} won: {_returns(best)}"
    return table(title, ("setting", "first trial", "winner", "importance"), rows)


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
