"""Experiments from the paper's tables, and a place to start from with a task of your own."""

from dataclasses import replace
from pathlib import Path
from typing import get_type_hints

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import method_named
from pc3d.experiment.roster_file import growing_curriculum
from pc3d.experiment.rosters import Curriculum, Rosters
from pc3d.experiment.world import OwnWorld
from pc3d.presets.changes import NETWORKS
from pc3d.system.errors import refuse_unknown
from pc3d.system.plain import differences, from_plain
from pc3d.system.toml_file import read_toml
from pc3d.tasks.registry import TASKS, paper_of, papers

USUAL = Path(__file__).with_name("own_task.toml")


def paper(task: str, method: str, *, seed: int = 0, episodes: int | None = None) -> Experiment:
    """The paper's settings for a method on a task (its table of final evaluation hyperparameters)."""
    table = paper_of(task)
    made = Experiment(
        task=task,
        method=method,
        rosters=table.rosters,
        curriculum=table.curriculum,
        recipe=table.recipe,
        seed=seed,
        episodes=table.episodes if episodes is None else episodes,
        rules=TASKS[task].rules(),
        **table.settings(method),
    )
    return _without_others_settings(made)


def custom(
    task: str,
    method: str,
    rosters: Rosters,
    curriculum: Curriculum,
    *,
    world: OwnWorld | None = None,
    seed: int = 0,
    episodes: int = 5_000,
) -> Experiment:
    """A place to start from with a task of your own: own_task.toml."""
    row = method_named(method)
    usual = read_toml(USUAL, "file of usual settings")
    kinds = get_type_hints(Experiment)
    own = [name for name in NETWORKS if name != "distillation" or row.distils]
    algorithm = {
        name: value for section in row.algorithm.sections() for name, value in usual.get(section, {}).items()
    }
    made = Experiment(
        task=task,
        method=method,
        rosters=rosters,
        curriculum=curriculum,
        algorithm=from_plain(row.algorithm, algorithm, USUAL.name),
        seed=seed,
        episodes=episodes,
        world=world,
        **{name: from_plain(kinds[name], usual[name], USUAL.name) for name in own},
    )
    return _without_others_settings(made)


def _without_others_settings(experiment: Experiment) -> Experiment:
    """What a recipe says of contexts is set for the methods that have them: others stay as they were."""
    if method_named(experiment.method).has_context:
        return experiment
    return replace(experiment, recipe=experiment.recipe.without_contexts())


def specialist(experiment: Experiment, team_size: str) -> Experiment:
    """The experiment with one team size only: an upper mark for a policy that must serve all of them."""
    sizes = [str(size) for size in experiment.rosters.all]
    refuse_unknown("team size", team_size, sizes)
    size = int(team_size)
    return replace(experiment, rosters=Rosters(train=(size,)), curriculum=growing_curriculum((size,)))


def sealed(experiment: Experiment) -> Experiment:
    """Without test sizes and test mixes, which nothing that is tried may see: not even its policies."""
    return replace(experiment, rosters=experiment.rosters.sealed(), mixes=experiment.mixes.sealed())


def usual_experiment(experiment: Experiment) -> Experiment:
    """What is usual for the same task, method, seed and budget, and for an own task's team sizes."""
    task, method, seed, episodes = experiment.task, experiment.method, experiment.seed, experiment.episodes
    if task in papers():
        return paper(task, method, seed=seed, episodes=episodes)
    sizes, world = (experiment.rosters, experiment.curriculum), experiment.world
    return custom(task, method, *sizes, world=world, seed=seed, episodes=episodes)


def changes(experiment: Experiment) -> list[str]:
    """The settings that are not those it would have by default, as `name: default → setting`."""
    usual = usual_experiment(experiment)
    return differences(sealed(usual) if experiment.rosters.sealed_largest else usual, experiment)


PRESETS = {"paper": paper}
