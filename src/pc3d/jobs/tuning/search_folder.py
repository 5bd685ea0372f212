"""A search's folder on one machine: which search it belongs to, and the name its trials carry."""

from __future__ import annotations

from pathlib import Path

from pc3d.jobs.tuning.plan import Plan, first_difference
from pc3d.system.checked_json import read_checked, write_checked
from pc3d.system.errors import BadInput


def adopted(folder: Path, plan: Plan, new_id: str) -> str:
    """Make this the folder of a search, or refuse if it is another's; gives back the folder's own id."""
    file = folder / "search.json"
    if not file.exists():
        if (folder / "trials").exists():
            raise BadInput(f"{folder} holds trials of an unknown search: use another --folder")
        write_checked(file, {"folder_id": new_id, "search": plan.identity})
        return new_id
    content = read_checked(file, ("folder_id", "search"))
    known, folder_id = content.get("search"), content.get("folder_id")
    if not isinstance(known, dict) or not isinstance(folder_id, str):
        raise BadInput(f"{file} is damaged: use another --folder")
    difference = first_difference(known, plan.identity)
    if difference:
        raise BadInput(
            f"{folder} holds another search: {difference}; use another --folder, or ask for that search"
        )
    return folder_id
