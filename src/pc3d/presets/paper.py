"""Experiments from the paper's tables, and a place to start from with a task of your own."""

from dataclasses import replace

from pc3d.experiment.methods import method_named
from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.experiment.settings import (
    ActorSettings,
    CriticSettings,
    DistillationSettings,
    Experiment,
    OwnWorld,
    PpoSettings,
    Recipe,
)
from pc3d.system.errors import unknown_name
from pc3d.system.plain import differences
from pc3d.tasks.registry import TASKS, paper_of, papers


def paper(task: str, method: str, *, seed: int = 0, episodes: int | None = None) -> Experiment:
    """The paper's settings for a method on a task (its table of final evaluation hyperparameters)."""
    table = paper_of(task)
    return Experiment(
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
    """A place to start from with a task of your own: middling values, the same for every method.

    Rewards are taken as they come: of an own task they are means over the team already.
    """
    row = method_named(method)
    return Experiment(
        task=task,
        method=method,
        rosters=rosters,
        curriculum=curriculum,
        algorithm=MIDDLING_PPO if row.algorithm is PpoSettings else row.algorithm(),
        actor=ActorSettings(widths=(128, 128), rnn_dim=64),
        critic=CriticSettings(
            widths=(128, 128),
            set_embed_dim=48,
            set_encoder_widths=(96, 96),
            team_size_feature=True,
            tokens=4,
        ),
        distillation=DistillationSettings(weight=0.1) if row.distils else DistillationSettings(),
        recipe=Recipe(reward_per_agent=False),
        seed=seed,
        episodes=episodes,
        world=world,
    )


MIDDLING_PPO = PpoSettings(
    learning_rate=5e-4,
    batch_size=8,
    buffer_size=1_000_000,
    update_every_episodes=8,
    epochs=8,
    clip=0.2,
    discount=0.99,
    gae_lambda=0.95,
    entropy_coefficient=0.01,
    value_coefficient=0.5,
    max_gradient_norm=1.0,
)


def preset(name: str, task: str, method: str) -> Experiment:
    """The experiment a preset stands for."""
    if name not in PRESETS:
        raise unknown_name("preset", name, PRESETS)
    return PRESETS[name](task, method)


def specialist(experiment: Experiment, team_size: str) -> Experiment:
    """The experiment with one team size only: an upper mark for a policy that must serve all of them."""
    sizes = [str(size) for size in experiment.rosters.all]
    if team_size not in sizes:
        raise unknown_name("team size", team_size, sizes)
    size = int(team_size)
    return replace(
        experiment, rosters=Rosters(train=(size,)), curriculum=Curriculum((Stage(1.0, (size,), (1.0,)),))
    )


def sealed(experiment: Experiment) -> Experiment:
    """The experiment without its test sizes, which nothing that is tried may see: not even its policies."""
    return replace(experiment, rosters=experiment.rosters.sealed())


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
