"""What a search leaves: the table of its trials, the winner's preset, and a picture."""

import csv
import io
from dataclasses import replace
from pathlib import Path

from pc3d.jobs.tuning.plan import WINNER, Plan
from pc3d.jobs.tuning.trial_folder import TrialRecord, best_of
from pc3d.presets.preset_file import Found, write_preset
from pc3d.system.errors import BadInput
from pc3d.system.files import explained, write_atomically
from pc3d.system.plain import as_text


def write_results(
    plan: Plan, records: list[TrialRecord], importances: dict[str, float], folder: Path
) -> None:
    """Write trials.csv, the picture and the winner's preset; without a winner there is only the table."""
    from pc3d.jobs.tuning.picture import search_picture
    from pc3d.report.figures.style import save

    with explained(f"writing to {folder}"):
        write_atomically(folder / "trials.csv", _csv(plan, records))
        best = best_of(records)
        if best is None or best.score is None:
            raise BadInput(
                f"no trial of this search came to its end: see the notes in {folder / 'trials.csv'}"
            )
        save(search_picture(plan, records, importances), folder)
        found = Found(
            base=plan.base_name,
            trials=len(records),
            trial=best.number,
            seeds=plan.budget.seed_count,
            episodes=plan.budget.episodes,
            rollouts=plan.budget.rollouts,
            train_return=best.score.train,
            validation_return=best.score.validation,
            train_sizes=plan.base.rosters.train,
            validation_sizes=plan.base.rosters.validation,
        )
        write_preset(folder / WINNER, replace(plan.preset_of(best.settings), found=found))


def _csv(plan: Plan, records: list[TrialRecord]) -> bytes:
    names = [row.setting for row in plan.rows]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", "state", "train_return", "validation_return", *names, "note"])
    for record in records:
        returns = ("", "") if record.score is None else map(repr, vars(record.score).values())
        values = [as_text(record.settings[name]) if record.settings else "" for name in names]
        writer.writerow([record.number, record.state, *returns, *values, record.note])
    return text.getvalue().encode()
