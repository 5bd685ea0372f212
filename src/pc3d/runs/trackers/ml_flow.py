"""The same numbers as metrics.jsonl, for MLflow; needs the extra `mlflow`.

Nothing leaves the machine unless the user says so: runs are files below the folder mlruns, and MLflow's own
counting of its users is off.
"""

import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # read when the package is imported
# Newer versions would rather have a database, which the package without its server cannot write.
os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")

from mlflow.entities import Metric, Param
from mlflow.tracking import MlflowClient

from pc3d.experiment.experiment import Experiment
from pc3d.presets.experiment_file import to_plain
from pc3d.runs.watcher import Watcher

EXPERIMENT = "pc3d"
STORE = "mlruns"  # what MLflow calls it
FOLDER = "pc3d.folder"  # the tag by which a run that goes on is found again
LONGEST_VALUE = 6000  # of a parameter, by MLflow's rule
MOST_AT_ONCE = 100  # parameters, by MLflow's rule


def place() -> str:
    """Where its numbers go, in words."""
    return f"MLflow: {os.environ.get('MLFLOW_TRACKING_URI', STORE)}"


class MlFlow(Watcher):
    """A watcher that logs one run; the horizontal axis is episodes."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder.resolve())
        self.client: Any = None
        self.run: str | None = None

    def started(self, experiment: Experiment, episodes: int) -> None:
        del episodes
        self.client = MlflowClient(os.environ.get("MLFLOW_TRACKING_URI", Path(STORE).resolve().as_uri()))
        self.run = self._found() or self._begun(experiment)
        self.client.update_run(self.run, status="RUNNING")

    def logged(self, line: dict[str, Any]) -> None:
        self._log(line, "")

    def evaluated(self, line: dict[str, Any]) -> None:
        self._log(line, "evaluation/")

    def warned(self, sentence: str) -> None:
        self.client.set_tag(self.run, "pc3d.warning", sentence)

    def ended(self, done: bool) -> None:
        if self.run is not None:
            self.client.set_terminated(self.run, "FINISHED" if done else "KILLED")

    def _log(self, line: dict[str, Any], before: str) -> None:
        now, step = int(time.time() * 1000), line["episodes"]
        self.client.log_batch(
            self.run, metrics=[Metric(before + name, float(line[name]), now, step) for name in line]
        )

    def _experiment(self) -> str:
        found = self.client.get_experiment_by_name(EXPERIMENT)
        return str(found.experiment_id if found else self.client.create_experiment(EXPERIMENT))

    def _found(self) -> str | None:
        """The run of an earlier sitting in this folder."""
        for run in self.client.search_runs([self._experiment()]):
            if run.data.tags.get(FOLDER) == self.folder:
                return str(run.info.run_id)
        return None

    def _begun(self, experiment: Experiment) -> str:
        name = f"{experiment.task} {experiment.method} seed {experiment.seed}"
        run = self.client.create_run(self._experiment(), tags={FOLDER: self.folder}, run_name=name)
        settings = [
            Param(name, str(value)[:LONGEST_VALUE]) for name, value in _settings(to_plain(experiment), "")
        ]
        for first in range(0, len(settings), MOST_AT_ONCE):
            self.client.log_batch(run.info.run_id, params=settings[first : first + MOST_AT_ONCE])
        return str(run.info.run_id)


def _settings(value: Any, name: str) -> list[tuple[str, Any]]:
    """All settings by their dotted names."""
    if not isinstance(value, dict):
        return [(name, value)]
    return [pair for key, inner in value.items() for pair in _settings(inner, f"{name}.{key}".lstrip("."))]
