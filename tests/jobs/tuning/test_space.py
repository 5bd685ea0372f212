"""The table of what is searched: it holds the paper's values and follows its chaining."""

from dataclasses import replace

import pytest

from pc3d.experiment.methods import METHODS
from pc3d.experiment.search import Between
from pc3d.jobs.tuning.space import read, space_for, stored
from pc3d.play.arena import CompiledArena
from pc3d.presets.changes import changed, parse_change, setting
from pc3d.presets.paper import paper
from pc3d.runs.train import check
from pc3d.system.errors import BadInput
from pc3d.tasks.make import make_game
from pc3d.tasks.registry import papers
from tests.jobs.tuning.searches import SPACE
from tests.small import HAPPO_METHODS, OFF_POLICY_METHODS, PPO_METHODS, Q_METHODS

CASES = [(task, method) for task in papers() for method in METHODS]


@pytest.mark.parametrize(("task", "method"), CASES)
def test_every_value_the_paper_ended_with_can_be_found(task, method):
    base = paper(task, method)
    for row in SPACE:
        if row.searched_by(method):
            assert row.tried.including(setting(base, row.setting)) == row.tried, row.setting


def test_pic_and_pc3d_search_only_what_is_their_own():
    for method in set(PPO_METHODS) - {"ippo", "mappo", "graph", *HAPPO_METHODS}:
        groups = {row.setting.partition(".")[0] for row in space_for(paper("spread", method))}
        assert groups <= {"critic", "distillation"}
        assert "critic" in groups


@pytest.mark.parametrize("method", Q_METHODS + OFF_POLICY_METHODS)
def test_what_learns_from_a_replay_searches_its_algorithm_and_what_it_sees_but_no_actor(method):
    groups = {row.setting.partition(".")[0] for row in space_for(paper("spread", method))}
    assert METHODS[method].algorithm.section in groups
    assert ("critic" in groups) == (method != "vdn")
    assert not groups & {"ppo", "actor"}


@pytest.mark.parametrize("method", HAPPO_METHODS)
def test_happo_searches_its_turns_and_leaves_the_rest_of_ppo_to_mappo(method):
    names = {row.setting for row in space_for(paper("spread", method))}
    assert {name for name in names if name.startswith("happo")} == {"happo.turns", "happo.correction_limit"}
    assert not any(name.startswith(("ppo", "actor")) for name in names)


@pytest.mark.parametrize(
    ("method", "own"),
    [
        ("ptde", {"ptde.teacher_share", "ptde.personal_width", "ptde.student_learning_rate"}),
        ("ctds", {"ctds.student_plays"}),
        ("a-qmix", {"aqmix.attention_width"}),
        ("refil", {"refil.imagination"}),
        ("sog", {"sog.election_every", "sog.message_width"}),
        ("copa", {"copa.broadcast_every", "copa.recognition_weight"}),
        ("mipi", {"mipi.information_cost", "mipi.reference_updates"}),
    ],
)
def test_what_extends_an_algorithm_searches_its_own_settings_and_leaves_the_rest_to_it(method, own):
    names = {row.setting for row in space_for(paper("spread", method))}
    assert {name for name in names if not name.startswith("critic.")} == own


def test_graph_searches_its_rounds_and_leaves_the_rest_of_ppo_to_mappo():
    assert {row.setting for row in space_for(paper("spread", "graph"))} == {"graph.rounds", "critic.widths"}


def test_ippo_searches_no_critic_and_a_mappo_no_distillation():
    assert not any(row.setting.startswith("critic") for row in space_for(paper("lbf", "ippo")))
    names = {row.setting for row in space_for(paper("lbf", "a-mappo"))}
    assert not names & {"distillation.weight", "distillation.teacher_rate"}


@pytest.mark.parametrize("task", sorted(papers()))
def test_the_ends_of_every_row_can_be_trained(task):
    for method in METHODS:
        base = paper(task, method)
        for row in space_for(base):
            tried = row.tried
            ends = (tried.low, tried.high) if isinstance(tried, Between) else tried.values
            for value in ends:
                experiment = changed(base, {row.setting: value}, "a row")
                check(experiment, CompiledArena(make_game(experiment)))


@pytest.mark.parametrize(("task", "method"), CASES)
def test_what_is_stored_is_read_back(task, method):
    base = paper(task, method)
    rows = space_for(base)
    assert read(stored(base, rows), rows) == {row.setting: setting(base, row.setting) for row in rows}


@pytest.mark.parametrize(
    "damage",
    [
        {"ppo.learning_rate": 0.5},
        {"ppo.learning_rate": "1e-3"},
        {"ppo.epochs": "7"},
        {"ppo.epochs": 8},
        {"actor.widths": "__import__('os')"},
        {"rosters.test": 9},
        {"ppo.clip": None},
    ],
)
def test_what_this_search_cannot_have_tried_is_not_read(damage):
    base = paper("spread", "mappo")
    rows = space_for(base)
    assert read({**stored(base, rows), **damage}, rows) is None


def test_a_base_outside_the_table_widens_its_row():
    base = paper("spread", "mappo")
    far = replace(base, algorithm=replace(base.algorithm, learning_rate=0.01, epochs=3))
    rows = space_for(far)
    assert read(stored(far, rows), rows)["ppo.learning_rate"] == 0.01


def test_fixed_settings_are_left_out():
    base = paper("spread", "mappo")
    assert "ppo.epochs" not in {row.setting for row in space_for(base, ["ppo.epochs"])}
    with pytest.raises(BadInput, match="leave at least one"):
        space_for(base, [row.setting for row in SPACE])


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("ppo.epochs=8", "ppo.epochs", 8),
        ("actor.widths=128,64", "actor.widths", (128, 64)),
        ("critic.team_size_feature=false", "critic.team_size_feature", False),
        ("recipe.batch_unit=team_steps", "recipe.batch_unit", "team_steps"),
        ("ppo.learning_rate=1e-3", "ppo.learning_rate", 1e-3),
    ],
)
def test_a_fixed_setting_is_read_as_its_type(text, name, value):
    assert parse_change(text, paper("spread", "mappo")) == (name, value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ppo.epoch=8", "perhaps you meant epochs"),
        ("ppo.epochs", "written as ppo.epochs=8"),
        ("ppo.epochs=many", "must be a whole number"),
        ("ppo.learning_rate=nan", "finite"),
        ("recipe.batch_unit=rows", "there are sequences"),
        ("rosters.test=3", "no group of settings that a search may change"),
        ("curriculum.stages=3", "no group of settings that a search may change"),
        ("episodes=3", "no group of settings that a search may change"),
    ],
)
def test_a_bad_fixed_setting_is_one_sentence(text, sentence):
    with pytest.raises(BadInput, match=sentence):
        parse_change(text, paper("spread", "mappo"))
