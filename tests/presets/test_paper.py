"""The presets against the paper's printed tables, cell by cell, written down here a second time."""

from dataclasses import replace
from pathlib import Path

import pytest

from pc3d.experiment.methods import METHODS, ancestors, family
from pc3d.experiment.recipe import Recipe
from pc3d.networks.build import refuse_mismatch
from pc3d.presets.paper import paper
from pc3d.tasks.registry import paper_of
from tests.small import HAPPO_METHODS

ROOT = Path(__file__).parents[2]
# learning rate, batch, buffer, update every, epochs, actor, rnn, clip, γ, λ, entropy, value, norm
BACKBONE = {
    ("spread", "ippo"): (
        1.46e-4,
        128,
        8192,
        2,
        6,
        (96, 128, 128, 96),
        128,
        0.25,
        0.99,
        0.99,
        6.61e-4,
        0.5,
        0.5,
    ),
    ("spread", "mappo"): (
        1.84e-3,
        128,
        200000,
        8,
        8,
        (128, 256, 128),
        128,
        0.15,
        0.985,
        0.99,
        1.28e-3,
        0.25,
        2.0,
    ),
    ("lbf", "ippo"): (1.22e-3, 128, 8192, 16, 6, (128, 256, 128), 64, 0.25, 0.99, 0.95, 8.24e-3, 0.25, 5.0),
    ("lbf", "mappo"): (4.63e-4, 256, 200000, 2, 8, (64, 64), 128, 0.25, 0.985, 0.93, 1.11e-2, 2.0, 5.0),
    ("rware", "ippo"): (
        2.06e-4,
        64,
        8192,
        8,
        8,
        (96, 128, 128, 96),
        192,
        0.10,
        0.97,
        0.97,
        2.49e-3,
        0.25,
        1.0,
    ),
    ("rware", "mappo"): (
        1.24e-4,
        64,
        200000,
        1,
        6,
        (128, 256, 128),
        32,
        0.25,
        0.99,
        0.97,
        2.34e-4,
        0.5,
        10.0,
    ),
}
# critic widths, set embedding, φ widths, team-size feature, tokens
CRITIC = {
    ("spread", "mappo"): ((128, 96),),
    ("spread", "pic"): ((128, 128), 48, (160, 96), False),
    ("spread", "pc3d"): ((192, 160), 48, (96, 96), True, 4),
    ("lbf", "mappo"): ((160, 160),),
    ("lbf", "pic"): ((160, 128), 96, (96, 64), True),
    ("lbf", "pc3d"): ((160, 128), 48, (160, 96), True, 4),
    ("rware", "mappo"): ((128, 96),),
    ("rware", "pic"): ((96, 96), 160, (48, 48), True),
    ("rware", "pc3d"): ((96, 96), 96, (96, 96), False, 5),
}
DISTILLATION = {
    "spread": (0.257, 0.02, -3, 2),
    "lbf": (0.0193, 0.0025, -2, 1.5),
    "rware": (0.0154, 0.0025, -3, 2),
}
STAGES = {
    "spread": [
        (0.133, (1, 2), (0.40, 0.60)),
        (0.167, (1, 2, 4), (0.18, 0.27, 0.55)),
        (0.200, (1, 2, 4, 6), (0.10, 0.15, 0.30, 0.45)),
        (0.500, (1, 2, 4, 6, 8), (0.06, 0.09, 0.18, 0.27, 0.40)),
    ],
    "lbf": [
        (0.200, (2,), (1.00,)),
        (0.250, (2, 4), (0.35, 0.65)),
        (0.250, (2, 4, 6), (0.15, 0.25, 0.60)),
        (0.300, (2, 4, 6), (0.10, 0.20, 0.70)),
    ],
    "rware": [
        (0.200, (2, 4), (0.65, 0.35)),
        (0.250, (2, 4, 6), (0.30, 0.20, 0.50)),
        (0.250, (2, 4, 6, 8), (0.10, 0.15, 0.25, 0.50)),
        (0.300, (2, 4, 6, 8), (0.05, 0.10, 0.20, 0.65)),
    ],
}
SPLITS = {
    "spread": ((1, 2, 4, 6, 8), (3, 5, 7), (9, 10)),
    "lbf": ((2, 4, 6), (3, 5), (7, 8)),
    "rware": ((2, 4, 6, 8), (3, 5, 7), (9, 10)),
}
EPISODES = {"spread": 20000, "lbf": 12000, "rware": 20000}
# Whose settings each method inherits.
PARENTS = {
    "ippo": None,
    "mappo": None,
    "pic": "mappo",
    "pc3d": "mappo",
    "gate-off": "pc3d",
    "gate-on": "pc3d",
    "a-mappo": "pc3d",
    "hyper-pc3d": "pc3d",
}
# Of what the paper does not have: the parts that its methods have.
EXTENSIONS = {"ptde": "mappo", "ctds": "qmix-pic", "mipi": "qmix-pic"}
FACTORED = {"vdn": "mappo", "qmix": "mappo", "qmix-pic": "pic", "pc3d-qmix": "pc3d"}
OFF_POLICY = {
    **dict.fromkeys(("maddpg", "matd3", "masac"), "mappo"),
    **dict.fromkeys(("pc3d-maddpg", "pc3d-matd3", "pc3d-masac"), "pc3d"),
}
TASKS = list(SPLITS)


def test_every_method_has_networks_and_settings():
    assert METHODS.keys() >= PARENTS.keys()
    for method, row in METHODS.items():
        refuse_mismatch(row)
        assert all(isinstance(paper(task, method).algorithm, row.algorithm) for task in TASKS)


def test_settings_are_chained_as_in_the_paper():
    assert {name: METHODS[name].parent for name in PARENTS} == PARENTS
    assert ancestors("gate-on") == ("pc3d", "mappo")


def test_what_is_said_of_a_methods_settings_fits_its_networks():
    assert family("pc3d") == tuple(name for name, row in METHODS.items() if row.has_context)
    without = tuple(name for name in family("pc3d") if name != "a-mappo")
    assert tuple(name for name, row in METHODS.items() if row.distils) == without


def backbone_of(experiment):
    ppo, actor = experiment.algorithm, experiment.actor
    return (
        ppo.learning_rate,
        ppo.batch_size,
        ppo.buffer_size,
        ppo.update_every_episodes,
        ppo.epochs,
        actor.widths,
        actor.rnn_dim,
        ppo.clip,
        ppo.discount,
        ppo.gae_lambda,
        ppo.entropy_coefficient,
        ppo.value_coefficient,
        ppo.max_gradient_norm,
    )


@pytest.mark.parametrize(("task", "method"), list(BACKBONE))
def test_backbone_cells_equal_the_papers(task, method):
    assert backbone_of(paper(task, method)) == BACKBONE[task, method]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "method", ["pic", "pc3d", "gate-off", "gate-on", "a-mappo", "hyper-pc3d", "graph", *HAPPO_METHODS, "ptde"]
)
def test_the_backbone_is_chained_from_mappo(task, method):
    assert backbone_of(paper(task, method)) == BACKBONE[task, "mappo"]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("method", "parent"), [*FACTORED.items(), *OFF_POLICY.items()])
def test_what_learns_from_a_replay_keeps_actor_discount_and_what_is_seen_of_the_team(task, method, parent):
    assert METHODS[method].parent == parent
    made, parent, mappo = (paper(task, name) for name in (method, parent, "mappo"))
    assert made.actor == mappo.actor
    assert made.algorithm.discount == mappo.algorithm.discount
    assert (made.critic, made.distillation) == (parent.critic, parent.distillation)
    usual = "qmix" if method in FACTORED else method.removeprefix("pc3d-")
    assert made.algorithm == paper(task, usual).algorithm


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("method", "parent"), EXTENSIONS.items())
def test_what_extends_a_method_has_its_networks_and_settings(task, method, parent):
    assert METHODS[method].parent == parent
    made, usual = paper(task, method), paper(task, parent)
    assert (made.actor, made.critic) == (usual.actor, usual.critic)
    chained = vars(usual.algorithm)
    assert {name: getattr(made.algorithm, name) for name in chained} == chained
    assert made.algorithm == type(made.algorithm)(**chained)  # and what is its own is as the page says


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    ("method", "parent"), [("a-qmix", "qmix"), ("refil", "a-qmix"), ("copa", "a-qmix"), ("sog", "refil")]
)
def test_what_learns_entity_by_entity_has_qmixs_settings_but_for_the_memory(task, method, parent):
    assert METHODS[method].parent == parent
    made, usual = paper(task, method), paper(task, "qmix")
    assert (made.actor, made.critic) == (usual.actor, usual.critic)
    kept = {**vars(usual.algorithm), "capacity": 500 if task == "rware" else usual.algorithm.capacity}
    assert made.algorithm == type(made.algorithm)(**kept)


def test_what_was_set_for_value_factorisation_is_what_the_page_says():
    page = (ROOT / "docs" / "value_factorisation.md").read_text()
    for name in ("gradient_steps", "capacity", "discount", "trace", "target_rate", "exploration_steps"):
        values = [getattr(paper(task, "qmix").algorithm, name) for task in TASKS]
        assert f"| `q.{name}` | {' | '.join(f'{value:,}' for value in values)} |" in page


@pytest.mark.parametrize("method", ["maddpg", "matd3", "masac"])
def test_what_was_set_for_off_policy_actor_critics_is_what_the_page_says(method):
    page = (ROOT / "docs" / "off_policy.md").read_text()
    names = ["gradient_steps", "capacity", "discount", "trace", "target_rate"]
    for name in names + ([] if method == "masac" else ["exploration_steps"]):
        values = [getattr(paper(task, method).algorithm, name) for task in TASKS]
        assert f"| `{name}` | {' | '.join(f'{value:,}' for value in values)} |" in page


@pytest.mark.parametrize(("task", "method"), list(CRITIC))
def test_critic_cells_equal_the_papers(task, method):
    critic = paper(task, method).critic
    cells = (
        critic.widths,
        critic.set_embed_dim,
        critic.set_encoder_widths,
        critic.team_size_feature,
        critic.tokens,
    )
    assert cells[: len(CRITIC[task, method])] == CRITIC[task, method]


@pytest.mark.parametrize("task", TASKS)
def test_distillation_cells_equal_the_papers(task):
    found = paper(task, "pc3d").distillation
    assert (found.weight, found.teacher_rate, found.reliance_min, found.reliance_max) == DISTILLATION[task]


@pytest.mark.parametrize("task", TASKS)
def test_ablations_take_pc3ds_values_and_a_mappo_drops_distillation_alone(task):
    pc3d = paper(task, "pc3d")
    for method in ("gate-off", "gate-on", "hyper-pc3d"):
        assert paper(task, method).distillation == pc3d.distillation
        assert paper(task, method).critic == pc3d.critic
    assert paper(task, "a-mappo").distillation.weight == 0
    assert paper(task, "a-mappo").critic == pc3d.critic


@pytest.mark.parametrize("task", TASKS)
def test_curricula_splits_and_budgets_equal_the_papers(task):
    settings = paper_of(task)
    stages = [(stage.fraction, stage.team_sizes, stage.probabilities) for stage in settings.curriculum.stages]
    rosters = settings.rosters
    assert stages == STAGES[task]
    assert (rosters.train, rosters.validation, rosters.test) == SPLITS[task]
    assert settings.episodes == EPISODES[task]


def test_the_recipes_are_those_the_reproduction_is_frozen_with():
    other = {"rware": {"batch_unit": "team_steps", "advantage_deviation": "running"}}
    for task in TASKS:
        assert paper(task, "mappo").recipe == Recipe(environments=8, **other.get(task, {}))
        assert paper(task, "pc3d").recipe == replace(paper(task, "mappo").recipe, huber_reduction="root")
        for method in ("pic", "pc3d"):
            assert paper(task, method).critic.normalise_encodings


def test_methods_of_a_task_share_one_recipe_but_for_the_settings_of_contexts():
    for task in TASKS:
        assert len({paper(task, method).recipe.without_contexts() for method in METHODS}) == 1


def test_what_a_task_wants_of_contexts_is_set_for_the_methods_that_have_them(monkeypatch):
    table = paper_of("spread")
    wanted = replace(table.recipe, huber_reduction="sum", clip_values=True)
    monkeypatch.setattr("pc3d.presets.paper.paper_of", lambda _: replace(table, recipe=wanted))
    reductions = {method: paper("spread", method).recipe.huber_reduction for method in METHODS}
    assert (reductions["pc3d"], reductions["mappo"], reductions["qmix"]) == ("sum", "mean", "mean")
    assert paper("spread", "mappo").recipe.clip_values
