"""A watcher of the user's own, named by its import path: `pc3d train ... --watcher my_module:MyWatcher`."""

from pathlib import Path

from pc3d.runs.watcher import Watcher
from pc3d.system.errors import BadInput
from pc3d.system.imports import described, load_object


def own_watchers(path: str | None, folder: Path) -> list[Watcher]:
    """What the path names, called with the run's folder; none if there is no path."""
    if path is None:
        return []
    make = load_object(path)
    try:
        made = make(folder)
    except Exception as error:  # whatever the user's own code raises
        raise BadInput(f"{path} gives no watcher: {described(error)}") from None
    if not isinstance(made, Watcher):
        raise BadInput(
            f"{path} is no watcher: called with a folder, it must give a pc3d.runs.watcher.Watcher"
        )
    return [made]
