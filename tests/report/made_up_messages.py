"""What evaluations of teams that talk would have left in a run's folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pc3d.runs.run_folder import RunFolder
from pc3d.system.checked_json import write_checked

Ways = dict[Any, tuple[float, float]]  # by share or interval: the return at every size, and messages


def add_messages(run: RunFolder, heard: float | Callable[[str], float]) -> None:
    """A column of the scores that says how many messages an agent heard at a step, always or by row."""
    path = run.path / "scores.csv"
    first, *rows = path.read_text().splitlines()
    path.write_text(
        "\n".join(
            [f"{first},messages", *(f"{row},{heard(row) if callable(heard) else heard}" for row in rows)]
        )
        + "\n"
    )


def write_losses(run: RunFolder, ways: Ways, **changed: Any) -> Path:
    """links.json, with these ways at every size of the run's task."""
    about = {"rounds": 3, "width": 128, "renewal": 0.1, "actions": "sampled"}
    scored = {f"{share:g}": _by_size(run, *values) for share, values in ways.items()}
    return _write(run, "links.json", {**about, "by_share": scored, **changed})


def write_speaking(run: RunFolder, ways: Ways, **changed: Any) -> Path:
    """coach.json, in the same way; 0 is never."""
    scores = [
        {"every": every, "thrift": 0.0, "by_size": _by_size(run, *values)} for every, values in ways.items()
    ]
    return _write(run, "coach.json", {"width": 64, "trained_every": 4, "scores": scores, **changed})


def _by_size(run: RunFolder, returned: float, heard: float) -> dict[str, Any]:
    sizes = run.experiment().rosters.all
    return {str(size): {"returns": [returned, returned], "messages": heard} for size in sizes}


def _write(run: RunFolder, name: str, content: dict[str, Any]) -> Path:
    experiment = run.experiment()
    whose = {"task": experiment.task, "method": experiment.method, "seed": experiment.seed}
    about = {
        "format": 1,
        "policy_sha256": "0" * 64,
        "return_definition": "x",
        "starts_seed": 0,
        "rollouts": 2,
    }
    write_checked(run.path / name, {**about, **whose, **content})
    return run.path / name
