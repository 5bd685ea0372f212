"""How training grows with the team, in worlds that grow with it: each size measured in a process of its own.

`pc3d benchmark growth` starts `python -m pc3d.benchmark.growth TASK AGENTS REPEATS`, which prints JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import jax
import numpy as np
from matplotlib.ticker import NullFormatter, ScalarFormatter

from pc3d.benchmark.tasks import port_speed
from pc3d.benchmark.training import (
    Beginning,
    answer_of_own_process,
    median_seconds,
    seconds_of,
    usual_batch,
)
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.ppo_settings import PpoSettings
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.learners.registry import algorithm_of
from pc3d.play.arena import CompiledArena
from pc3d.presets.paper import paper
from pc3d.report.figures.style import Figure, drawn, tidy
from pc3d.report.names import task_title
from pc3d.tasks.registry import entry_of

TEAM_SIZES = (8, 16, 32, 64, 128)
EPISODES, EPOCHS = 4, 2  # of an update: with 128 agents the paper's would take minutes
STEP_SECONDS = 0.3  # of stepping a world, at least


@dataclass(frozen=True)
class Growth:
    """What one team size costs."""

    task: str
    agents: int
    update_seconds: float
    step_seconds: float  # of one world and the whole team, views included, one episode at a time
    compile_seconds: float  # of the first update, with an empty cache
    memory_bytes: int  # the most that the process had


MEASURES: dict[str, Callable[[Growth], float]] = {
    "update": lambda growth: growth.update_seconds,
    "world's step": lambda growth: growth.step_seconds,
    "compiling": lambda growth: growth.compile_seconds,
    "memory": lambda growth: growth.memory_bytes,
}


def slope(growths: Sequence[Growth], measure: str) -> float:
    """By which power of the number of agents a measure grows, of one task: the log-log line's slope."""
    agents, values = zip(*((growth.agents, MEASURES[measure](growth)) for growth in growths), strict=True)
    return float(np.polyfit(np.log(agents), np.log(values), 1)[0])


def measure_growth_in_own_process(task: str, agents: int, repeats: int) -> Growth:
    """Compile time and peak memory are a process's own."""
    return Growth(**answer_of_own_process(__name__, task, str(agents), str(repeats)))


def measure_growth(task: str, agents: int, repeats: int) -> Growth:
    """PC3D's update in a scaled world of one team size."""
    experiment = experiment_of(task, agents)
    world = entry_of(task).make(agents, experiment.rules, world="scaled")
    learner = algorithm_of(experiment).fresh(experiment, world)
    run = Beginning(experiment, CompiledArena(world), learner, usual_batch(experiment, 0))
    with tempfile.TemporaryDirectory() as cache:
        jax.config.update("jax_compilation_cache_dir", cache)
        first, update = seconds_of(run.update), median_seconds(run.update, repeats)
    return Growth(
        task=task,
        agents=agents,
        update_seconds=update,
        step_seconds=1 / port_speed(world, 1, repeats, STEP_SECONDS),
        compile_seconds=first - update,
        memory_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


def experiment_of(task: str, agents: int) -> Experiment:
    """The paper's PC3D for a team of one size, with few episodes in an update."""
    experiment = paper(task, "pc3d")
    assert isinstance(experiment.algorithm, PpoSettings)
    return replace(
        experiment,
        rosters=Rosters(train=(agents,)),
        curriculum=Curriculum((Stage(1.0, (agents,), (1.0,)),)),
        algorithm=replace(experiment.algorithm, epochs=EPOCHS, update_every_episodes=1),
        recipe=replace(experiment.recipe, environments=EPISODES),
    )


def growth_figure(growths: Sequence[Growth]) -> Figure:
    """A panel for each measure, a line for each task, both axes logarithmic."""
    caption = "Both axes are logarithmic; each value is relative to that of the smallest team."
    with drawn(("growth", "What larger teams cost", caption), (8.4, 2.6)) as figure:
        panels = figure.drawing.subplots(1, len(MEASURES), sharex=True, sharey=True)
        for axes, (title, value) in zip(panels, MEASURES.items(), strict=True):
            for task in dict.fromkeys(growth.task for growth in growths):
                ours = [growth for growth in growths if growth.task == task]
                agents = [growth.agents for growth in ours]
                axes.plot(
                    agents,
                    [value(growth) / value(ours[0]) for growth in ours],
                    marker="o",
                    markersize=3,
                    label=task_title(task).name,
                )
            axes.plot(agents, [each / agents[0] for each in agents], ":", color="0.6", label="linear")
            axes.set(title=title, xlabel="agents", xscale="log", yscale="log", xticks=agents)
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(ScalarFormatter())
                axis.set_minor_formatter(NullFormatter())
            tidy(axes)
        panels[0].set_ylabel("times the smallest team's")
        panels[0].legend(frameon=False, fontsize="small")
    return figure


if __name__ == "__main__":
    task_word, agents_word, repeats_word = sys.argv[1:4]
    print(json.dumps(asdict(measure_growth(task_word, int(agents_word), int(repeats_word)))))
