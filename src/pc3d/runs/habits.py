"""How often a run is written down, evaluated on the way, and saved."""

from dataclasses import dataclass
from typing import Annotated

from pc3d.experiment.ranges import Rollouts
from pc3d.system.bounds import Bounded, Range


@dataclass(frozen=True)
class Habits(Bounded):
    """How often a run is written down; none of it changes a single bit of what is learned."""

    checkpoint_every: Annotated[int, Range(0, 10**9)] = 1000
    """Episodes between two checkpoints; 0 saves only when stopped, and at the end."""
    log_every: Annotated[int, Range(0, 10**9)] = 0
    """Updates gathered into one line of metrics; 0 chooses so that a run has at most 2,500 lines."""
    evaluate_every: Annotated[int, Range(0, 10**9)] = 0
    """Episodes between two evaluations on training and validation sizes; 0 means never."""
    evaluation_rollouts: Rollouts = 32
    """Rollouts per team size in such an evaluation."""
    tensorboard: bool = True
    """Whether to write TensorBoard events, if tensorboardX is installed."""
    wandb: bool = False
    """Whether to log to Weights & Biases: offline, unless WANDB_MODE says otherwise."""
    mlflow: bool = False
    """Whether to log to MLflow: to the folder mlruns, unless MLFLOW_TRACKING_URI says otherwise."""


DEFAULT_HABITS = Habits()
