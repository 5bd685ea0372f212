"""The tasks by name. A new one that comes with pc3d is a folder with an entry, and a line here."""

from pc3d.system.errors import unknown_name
from pc3d.tasks import foraging, spread, warehouse
from pc3d.tasks.entry import Paper, TaskEntry

TASKS: dict[str, TaskEntry] = {
    "spread": spread.ENTRY,
    "lbf": foraging.ENTRY,
    "rware": warehouse.ENTRY,
}


def entry_of(name: str) -> TaskEntry:
    """The task of that name, or a sentence that names the ones there are."""
    if name not in TASKS:
        raise unknown_name("task", name, TASKS)
    return TASKS[name]


def papers() -> dict[str, Paper]:
    """The tasks that the paper has settings for; own tasks have none."""
    return {name: entry.paper for name, entry in TASKS.items() if entry.paper is not None}


def paper_of(name: str) -> Paper:
    """The paper's settings for the task of that name, or a sentence that names the ones there are."""
    known = papers()
    if name not in known:
        raise unknown_name("task", name, known)
    return known[name]
