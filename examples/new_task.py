"""A task of your own in one file: agents on a line, who see only the two ends of their team, must meet.

python examples/new_task.py [EPISODES]
"""
# ruff: noqa: E402, D103
from pc3d import threads

threads.pin()

import sys
import tempfile
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np

from pc3d import experiments
from pc3d.evaluation.scores import returns_by_size
from pc3d.policy import load_policy
from pc3d.roster import Curriculum, Rosters, Stage
from pc3d.tasks import TASKS
from pc3d.tasks.task import ObservationPart, Outcome, Task, WorldState, scalar, slot_keys
from pc3d.train import train
