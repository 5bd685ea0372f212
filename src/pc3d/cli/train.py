"""`pc3d train TASK METHOD`: the paper's training, or yours, continued wherever it was stopped."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from pc3d.cli.own_task import with_world
from pc3d.cli.own_watcher import own_watchers
from pc3d.cli.train_words import Command, parse
from pc3d.cli.training_display import TrainingDisplay
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import method_named
from pc3d.experiment.network_settings import CriticSettings
from pc3d.play.opening import open_arena
from pc3d.runs.line_contract import read_clock, read_metrics
from pc3d.runs.origin import origin_of
from pc3d.runs.policy import Policy, load_policy
from pc3d.runs.run_folder import RunFolder
from pc3d.runs.shipped import found
from pc3d.runs.trackers.table import written_to
from pc3d.runs.train import train
from pc3d.runs.watcher import Watchers
from pc3d.system.errors import BadInput
from pc3d.system.imports import folder_name
from pc3d.system.plain import amount

__all__ = ["Command", "parse", "run"]
# Settings of the critic that are the teacher's.
TEACHERS = ("set_embed_dim", "set_encoder_widths", "tokens", "normalise_encodings")


def run(command: Command) -> int:
    experiment = with_world(command.experiment, command.horizon, command.hosting)
    origin = None if command.begin_from is None else load_policy(found(command.begin_from))
    if origin is not None:
        experiment = begun_from(origin, experiment, command.given)
    names = (folder_name(name) for name in (experiment.task, experiment.method))
    usual = Path("runs", *names, f"seed-{experiment.seed}")
    folder = command.folder or usual
    own = own_watchers(command.watcher, folder)
    title = f"{experiment.task} {experiment.method} seed {experiment.seed}"
    original = experiment.backend == "original"
    with (
        open_arena(experiment, experiment.task, command.hosting, original=original) as arena,
        TrainingDisplay(title) as display,
    ):
        run = train(experiment, arena, folder, command.habits, Watchers([display, *own]), origin)
    if not display.began:
        print(f"{title}: already finished in {folder}")
        return 0
    print("\n".join([summary(run), *written_to(command.habits)]))
    return 0


def begun_from(origin: Policy, experiment: Experiment, given: Collection[str]) -> Experiment:
    """The experiment with where it begins, and with that policy's networks unless others were asked for."""
    insight = origin.experiment.algorithm.insight
    if insight is not None and insight.beside_features:
        raise BadInput(
            f"a policy of {origin.experiment.method} is two networks in one: no run can begin with it"
        )
    actor = experiment.actor if "actor" in given else origin.experiment.actor
    critic = experiment.critic if "critic" in given else _with_teacher_of(origin.experiment, experiment)
    return replace(experiment, origin=origin_of(origin), actor=actor, critic=critic)


def _with_teacher_of(origin: Experiment, experiment: Experiment) -> CriticSettings:
    """Critic settings with the policy's teacher, and so with contexts as wide, where both have one."""
    if not all(method_named(each.method).has_context for each in (origin, experiment)):
        return experiment.critic
    theirs = {name: getattr(origin.critic, name) for name in TEACHERS}
    return replace(experiment.critic, **theirs)


def summary(run: RunFolder) -> str:
    """What came out, in four lines."""
    last = read_metrics(run.metrics)[-1]
    seconds = sum(line["seconds"] for line in read_clock(run.clock))
    returns = ", ".join(
        f"{amount(int(size), 'agent')} {mean:.2f}" for size, (_, mean) in last["return_by_size"].items()
    )
    return (
        f"finished {amount(last['episodes'], 'episode')} in {seconds / 60:.1f} min\n"
        f"returns in the last line of metrics: {returns}\n"
        f"policy: {run.final}\nmetrics: {run.metrics}"
    )
