"""The one line that a task's folder needs."""

from tests.seams.probe_task import ENTRY

TASKS = {"probe": ENTRY}
