"""The paper's tables: rosters, curricula and hyperparameters, and the experiments made from them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pc3d.chaining import DISTILLED, METHOD_NAMES, WITHOUT_DISTILLATION, ancestors
from pc3d.errors import unknown_name
from pc3d.plain import differences
from pc3d.roster import Curriculum, Rosters, Stage
from pc3d.settings import (
    ActorSettings,
    CriticSettings,
    DistillationSettings,
    Experiment,
    OwnWorld,
    PpoSettings,
    Recipe,
)

ROSTERS = {
    "spread": Rosters(train=(1, 2, 4, 6, 8), validation=(3, 5, 7), test=(9, 10)),
    "lbf": Rosters(train=(2, 4, 6), validation=(3, 5), test=(7, 8)),
    "rware": Rosters(train=(2, 4, 6, 8), validation=(3, 5, 7), test=(9, 10)),
}

CURRICULA = {
    "spread": Curriculum(
        (
            Stage(0.133, (1, 2), (0.40, 0.60)),
            Stage(0.167, (1, 2, 4), (0.18, 0.27, 0.55)),
            Stage(0.200, (1, 2, 4, 6), (0.10, 0.15, 0.30, 0.45)),
            Stage(0.500, (1, 2, 4, 6, 8), (0.06, 0.09, 0.18, 0.27, 0.40)),
        )
    ),
    "lbf": Curriculum(
        (
            Stage(0.20, (2,), (1.0,)),
            Stage(0.25, (2, 4), (0.35, 0.65)),
            Stage(0.25, (2, 4, 6), (0.15, 0.25, 0.60)),
            Stage(0.30, (2, 4, 6), (0.10, 0.20, 0.70)),
        )
    ),
    "rware": Curriculum(
        (
            Stage(0.20, (2, 4), (0.65, 0.35)),
            Stage(0.25, (2, 4, 6), (0.30, 0.20, 0.50)),
            Stage(0.25, (2, 4, 6, 8), (0.10, 0.15, 0.25, 0.50)),
            Stage(0.30, (2, 4, 6, 8), (0.05, 0.10, 0.20, 0.65)),
        )
    ),
}

EPISODES = {"spread": 20_000, "lbf": 12_000, "rware": 20_000}

# What the paper leaves open and a task may want otherwise than the defaults; reasons: docs/reproduction.md.
RECIPES = {
    "spread": Recipe(environments=8),
    "lbf": Recipe(environments=8),
    "rware": Recipe(environments=8, batch_unit="team_steps", advantage_deviation="running"),
}


def paper(task: str, method: str, *, seed: int = 0, episodes: int | None = None) -> Experiment:
    """The paper's settings for a method on a task (its table of final evaluation hyperparameters)."""
    if task not in PAPER:
        raise unknown_name("task", task, PAPER)
    if method not in METHOD_NAMES:
        raise unknown_name("method", method, METHOD_NAMES)
    row = PAPER[task][method]
    return Experiment(
        task=task,
        method=method,
        rosters=ROSTERS[task],
        curriculum=CURRICULA[task],
        ppo=row.ppo,
        actor=row.actor,
        critic=row.critic,
        distillation=row.distillation,
        recipe=RECIPES[task],
        seed=seed,
        episodes=EPISODES[task] if episodes is None else episodes,
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
    if method not in METHOD_NAMES:
        raise unknown_name("method", method, METHOD_NAMES)
    return Experiment(
        task=task,
        method=method,
        rosters=rosters,
        curriculum=curriculum,
        ppo=PpoSettings(5e-4, 8, 1_000_000, 8, 8, 0.2, 0.99, 0.95, 0.01, 0.5, 1.0),
        actor=ActorSettings((128, 128), 64),
        critic=CriticSettings((128, 128), 48, (96, 96), team_size_feature=True, tokens=4),
        distillation=DistillationSettings(0.1, 0.01) if method in DISTILLED else DistillationSettings(),
        recipe=Recipe(reward_per_agent=False),
        seed=seed,
        episodes=episodes,
        world=world,
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
    if task in PAPER:
        return paper(task, method, seed=seed, episodes=episodes)
    sizes, world = (experiment.rosters, experiment.curriculum), experiment.world
    return custom(task, method, *sizes, world=world, seed=seed, episodes=episodes)


def changes(experiment: Experiment) -> list[str]:
    """The settings that are not those it would have by default, as `name: default → setting`."""
    usual = usual_experiment(experiment)
    return differences(sealed(usual) if experiment.rosters.sealed_largest else usual, experiment)


@dataclass(frozen=True)
class TableRow:
    """One column of the paper's hyperparameter table."""

    ppo: PpoSettings
    actor: ActorSettings
    critic: CriticSettings = field(default_factory=CriticSettings)
    distillation: DistillationSettings = field(default_factory=DistillationSettings)

    def chained(self, critic: CriticSettings, distillation: DistillationSettings | None = None) -> TableRow:
        """The paper's parameter chaining: MAPPO's actor and PPO rows, with another critic."""
        return replace(self, critic=critic, distillation=distillation or self.distillation)


def _table(ippo: TableRow, mappo: TableRow, pic: TableRow, pc3d: TableRow) -> dict[str, TableRow]:
    """One task's rows: the four that are printed, and for every other method that of its nearest ancestor."""
    printed = {"ippo": ippo, "mappo": mappo, "pic": pic, "pc3d": pc3d}
    without_distillation = replace(pc3d, distillation=replace(pc3d.distillation, weight=0.0))
    sources = {name: next(own for own in (name, *ancestors(name)) if own in printed) for name in METHOD_NAMES}
    rows = {name: printed[source] for name, source in sources.items()}
    return rows | {WITHOUT_DISTILLATION: without_distillation}


def _spread() -> dict[str, TableRow]:
    ippo = TableRow(
        PpoSettings(1.46e-4, 128, 8192, 2, 6, 0.25, 0.99, 0.99, 6.61e-4, 0.5, 0.5),
        ActorSettings((96, 128, 128, 96), 128),
    )
    mappo = TableRow(
        PpoSettings(1.84e-3, 128, 200_000, 8, 8, 0.15, 0.985, 0.99, 1.28e-3, 0.25, 2.0),
        ActorSettings((128, 256, 128), 128),
        CriticSettings((128, 96)),
    )
    pic = mappo.chained(CriticSettings((128, 128), 48, (160, 96), team_size_feature=False))
    pc3d = mappo.chained(
        CriticSettings((192, 160), 48, (96, 96), team_size_feature=True, tokens=4),
        DistillationSettings(0.257, 0.02, -3.0, 2.0),
    )
    return _table(ippo, mappo, pic, pc3d)


def _lbf() -> dict[str, TableRow]:
    ippo = TableRow(
        PpoSettings(1.22e-3, 128, 8192, 16, 6, 0.25, 0.99, 0.95, 8.24e-3, 0.25, 5.0),
        ActorSettings((128, 256, 128), 64),
    )
    mappo = TableRow(
        PpoSettings(4.63e-4, 256, 200_000, 2, 8, 0.25, 0.985, 0.93, 1.11e-2, 2.0, 5.0),
        ActorSettings((64, 64), 128),
        CriticSettings((160, 160)),
    )
    pic = mappo.chained(CriticSettings((160, 128), 96, (96, 64), team_size_feature=True))
    pc3d = mappo.chained(
        CriticSettings((160, 128), 48, (160, 96), team_size_feature=True, tokens=4),
        DistillationSettings(0.0193, 0.0025, -2.0, 1.5),
    )
    return _table(ippo, mappo, pic, pc3d)


def _rware() -> dict[str, TableRow]:
    ippo = TableRow(
        PpoSettings(2.06e-4, 64, 8192, 8, 8, 0.10, 0.97, 0.97, 2.49e-3, 0.25, 1.0),
        ActorSettings((96, 128, 128, 96), 192),
    )
    mappo = TableRow(
        PpoSettings(1.24e-4, 64, 200_000, 1, 6, 0.25, 0.99, 0.97, 2.34e-4, 0.5, 10.0),
        ActorSettings((128, 256, 128), 32),
        CriticSettings((128, 96)),
    )
    pic = mappo.chained(CriticSettings((96, 96), 160, (48, 48), team_size_feature=True))
    pc3d = mappo.chained(
        CriticSettings((96, 96), 96, (96, 96), team_size_feature=False, tokens=5),
        DistillationSettings(0.0154, 0.0025, -3.0, 2.0),
    )
    return _table(ippo, mappo, pic, pc3d)


PAPER: dict[str, dict[str, TableRow]] = {"spread": _spread(), "lbf": _lbf(), "rware": _rware()}
PRESETS = {"paper": paper}
