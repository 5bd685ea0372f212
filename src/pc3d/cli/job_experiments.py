"""The experiment that a study's job stands for: what `pc3d train` makes of its words."""

import io
import shlex
from contextlib import redirect_stderr
from dataclasses import replace
from functools import cache

from pc3d.cli.train_words import parse
from pc3d.experiment.experiment import Experiment
from pc3d.jobs.study import Job
from pc3d.system.errors import BadInput
from pc3d.system.imports import is_import_path


def experiment_of(job: Job) -> Experiment:
    return replace(_experiment(job.task, job.method, *job.options), seed=job.seed)


@cache
def _experiment(*words: str) -> Experiment:
    """Seeds share it; an own task is looked at, which takes a moment."""
    try:
        with redirect_stderr(io.StringIO()):  # what the option parser says is of an option that nobody typed
            command = parse(list(words))
    except SystemExit:
        raise BadInput(
            f"this study has a run with values that no setting takes: pc3d train {shlex.join(words)}"
        ) from None
    if not is_import_path(command.experiment.task):
        return command.experiment
    from pc3d.cli.own_task import with_world  # with JAX behind it, which a study's own process may not need

    return with_world(command.experiment, command.horizon, command.hosting)
