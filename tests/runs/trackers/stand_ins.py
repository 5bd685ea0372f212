"""Hand-written stand-ins with the calls of wandb and MLflow that we make, for machines that have neither."""

from dataclasses import dataclass, field, make_dataclass
from types import ModuleType, SimpleNamespace
from typing import Any


@dataclass
class WandbRun:
    settings: dict[str, Any]
    logged: list[dict[str, Any]] = field(default_factory=list)
    axes: dict[str, str] = field(default_factory=dict)
    alerts: list[str] = field(default_factory=list)
    exit_code: int | None = None

    def define_metric(self, name: str, step_metric: str) -> None:
        self.axes[name] = step_metric

    def log(self, line: dict[str, Any]) -> None:
        self.logged.append(line)

    def alert(self, title: str, text: str) -> None:
        self.alerts.append(text)

    def finish(self, exit_code: int) -> None:
        self.exit_code = exit_code


def wandb() -> dict[str, Any]:
    """The modules by name; the package keeps its runs."""
    module: Any = ModuleType("wandb")
    module.runs, module.Settings = [], SimpleNamespace

    def init(**settings: Any) -> WandbRun:
        module.runs.append(WandbRun(settings))
        return module.runs[-1]

    module.init = init
    return {"wandb": module}


@dataclass
class MlflowRun:
    tags: dict[str, str]
    run_id: str
    params: dict[str, str] = field(default_factory=dict)
    metrics: list[tuple[str, float, int]] = field(default_factory=list)
    status: str = ""

    @property
    def info(self) -> SimpleNamespace:
        return SimpleNamespace(run_id=self.run_id)

    @property
    def data(self) -> SimpleNamespace:
        return SimpleNamespace(tags=self.tags)


class MlflowClient:
    """Its experiments and runs outlive it, as those in a store do."""

    store: dict[str, dict[str, MlflowRun]]

    def __init__(self, tracking_uri: str) -> None:
        self.tracking_uri = tracking_uri

    def get_experiment_by_name(self, name: str) -> SimpleNamespace | None:
        return SimpleNamespace(experiment_id=name) if name in self.store else None

    def create_experiment(self, name: str) -> str:
        self.store[name] = {}
        return name

    def search_runs(self, experiments: list[str]) -> list[MlflowRun]:
        return [run for name in experiments for run in self.store[name].values()]

    def create_run(self, experiment: str, tags: dict[str, str], run_name: str) -> MlflowRun:
        run = MlflowRun({**tags, "name": run_name}, str(len(self.store[experiment])))
        self.store[experiment][run.run_id] = run
        return run

    def update_run(self, run: str, status: str) -> None:
        self._run(run).status = status

    set_terminated = update_run

    def set_tag(self, run: str, name: str, value: str) -> None:
        self._run(run).tags[name] = value

    def log_batch(self, run: str, metrics: Any = (), params: Any = ()) -> None:
        assert len(params) <= 100
        self._run(run).params |= {param.key: param.value for param in params}
        self._run(run).metrics += [(metric.key, metric.value, metric.step) for metric in metrics]

    def _run(self, run: str) -> MlflowRun:
        (found,) = (runs[run] for runs in self.store.values() if run in runs)
        return found


def mlflow() -> dict[str, Any]:
    """The modules by name; the client's class keeps the store."""
    package, entities, tracking = (ModuleType(f"mlflow{part}") for part in ("", ".entities", ".tracking"))
    made: Any = package
    made.entities, made.tracking = entities, tracking
    made.entities.Metric = make_dataclass("Metric", ["key", "value", "timestamp", "step"])
    made.entities.Param = make_dataclass("Param", ["key", "value"])
    made.tracking.MlflowClient = type("Client", (MlflowClient,), {"store": {}})
    return {module.__name__: module for module in (package, entities, tracking)}
