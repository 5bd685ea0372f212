"""Which trackers there are; a tracker's package is imported only if it is asked for."""

from collections.abc import Callable, Iterator
from pathlib import Path

from pc3d.runs.habits import Habits
from pc3d.runs.watcher import Watcher
from pc3d.system.errors import MissingExtra


def _tensorboard(folder: Path) -> Watcher:
    from pc3d.runs.trackers.tensorboard import TensorBoard

    return TensorBoard(folder)


def _wandb(folder: Path) -> Watcher:
    from pc3d.runs.trackers.weights_and_biases import WeightsAndBiases

    return WeightsAndBiases(folder)


def _mlflow(folder: Path) -> Watcher:
    from pc3d.runs.trackers.ml_flow import MlFlow

    return MlFlow(folder)


# What makes a watcher of a run's folder, by the name that option, extra and field of the habits share.
TRACKERS: dict[str, Callable[[Path], Watcher]] = {
    "tensorboard": _tensorboard,
    "wandb": _wandb,
    "mlflow": _mlflow,
}
IF_INSTALLED = ("tensorboard",)  # what is on by default cannot be missed


def written_to(habits: Habits) -> Iterator[str]:
    """Where those that were asked for keep what they were told, in words."""
    if habits.wandb:
        from pc3d.runs.trackers.weights_and_biases import place as wandb_place

        yield wandb_place()
    if habits.mlflow:
        from pc3d.runs.trackers.ml_flow import place as mlflow_place

        yield mlflow_place()


def trackers(habits: Habits, folder: Path) -> Iterator[Watcher]:
    """Those that the habits ask for."""
    for name, made in TRACKERS.items():
        if not getattr(habits, name):
            continue
        try:
            yield made(folder)
        except ImportError:
            if name not in IF_INSTALLED:
                raise MissingExtra(name, name) from None
