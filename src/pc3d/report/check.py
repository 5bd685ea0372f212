"""Whether all that a report shows of a run can be read: one damaged file must not stop the others' report."""

from pc3d.evaluation.unlike import read_mix_scores
from pc3d.report.changes import changes_in
from pc3d.report.page.page import check_replay
from pc3d.report.runs import Run
from pc3d.report.tables.context import read_contexts
from pc3d.report.tables.less_said import less_said_in
from pc3d.report.write import read_replay


def check_shown(run: Run) -> None:
    """Read everything once, so that what is wrong is found before anything is made of it."""
    for read in (changes_in(run), less_said_in(run), read_mix_scores(run.folder.path)):
        list(read)
    read_contexts([run])
    for path in run.replays:
        check_replay(read_replay(run, path))
