"""Roster processes as settings: by name, in files, and what is refused in one sentence."""

from dataclasses import replace

import pytest

from pc3d.experiment.named_rosters import NAMED, roster_label, roster_named
from pc3d.experiment.roster_check import check_training
from pc3d.experiment.roster_process import (
    CONSTANT,
    Churn,
    Event,
    Schedule,
    Shock,
    Spans,
    process_from_plain,
    process_to_plain,
)
from pc3d.presets.paper import paper, sealed
from pc3d.system.errors import BadInput


@pytest.mark.parametrize("name", NAMED)
def test_a_process_survives_a_file(name):
    assert process_from_plain(process_to_plain(NAMED[name]), "here") == NAMED[name]
    assert roster_named(name) == NAMED[name]


def test_a_name_may_have_other_settings():
    assert roster_named("churn:leave=4,join=0.5") == replace(NAMED["churn"], leave=4.0, join=0.5)
    assert roster_named('churn: per = "team", burst = [0.5, 0.5]').burst == (0.5, 0.5)


def test_a_process_is_read_from_a_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('kind = "schedule"\nevents = [{ step = 10, leave = 1 }, { step = 20, join = 2 }]\n')
    assert roster_named(str(file)) == Schedule((Event(10, leave=1), Event(20, join=2)))
    assert roster_label(str(file)) == "mine"


def test_files_are_called_after_a_process_and_its_settings():
    assert roster_label("lose-half") == "lose-half"
    assert roster_label("churn:leave=4, join=4") == "churn-leave-4--join-4"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("chrun", "perhaps you meant churn"),
        ("churn:leave", "written as churn:leave=4,join=4"),
        ("churn:leaf=4", "perhaps you meant leave"),
        ('churn:kind="shock"', "written as churn:leave=4,join=4"),
        ("churn:smallest=0", "would empty the team"),
        ("churn:smallest=5,largest=4", "is above roster.largest"),
        ("churn:burst=[0.5,0.4]", "must sum to 1"),
        ("churn:burst=[0.5,0.5]", 'set roster.per = "team"'),
        ('churn:clock="steps"', "roster.leave must be from 0 to 1"),
        ("lose-one:leave=1.5", "whole agents"),
        ("lose-one:between=[0.6,0.4]", "the smaller one first"),
        ("gpl-lbf:away=[3]", "two numbers"),
        ("missing.toml", "missing.toml"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(BadInput) as refused:
        roster_named(text)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_settings_that_no_parser_bears_are_refused_too():
    for settings in (f"leave={'9' * 5000}", f"leave={'[' * 5000}", f"{'a.' * 20_000}a=1", "leave=1}\nx={"):
        test_what_cannot_be_is_refused_in_a_sentence(f"churn:{settings}", "written as churn:leave=4,join=4")


def test_a_schedule_has_changes_in_their_order():
    with pytest.raises(BadInput, match="rising steps"):
        Schedule((Event(10), Event(5)))
    with pytest.raises(BadInput, match="rising steps"):
        Schedule(())


@pytest.mark.parametrize(
    ("process", "team", "sentence"),
    [
        (Shock(leave=4), 4, "would empty a team of 4 agents"),
        (Shock(leave=5, join=2), 4, "would empty a team of 4 agents"),
        (Shock(leave=2), 4, "would leave 2 of 4 agents, and this task needs 3"),
        (
            Schedule((Event(10, leave=1), Event(120, leave=1))),
            8,
            "after step 120, and",
        ),
    ],
)
def test_a_team_that_does_not_fit_is_refused(process, team, sentence):
    with pytest.raises(BadInput, match=sentence):
        process.check(team, 3, 100)


def test_a_replacement_of_everybody_empties_no_team():
    Shock(leave=4, join=4).check(4, 3, 100)


def trained_with(roster, task="spread", **changes):
    return replace(paper(task, "mappo"), roster=roster, **changes)


@pytest.mark.parametrize("name", ["constant", "churn-slow", "churn", "churn-fast", "gpl-lbf", "gpl-wolfpack"])
@pytest.mark.parametrize(("task", "fewest"), [("spread", 1), ("lbf", 3), ("rware", 1)])
def test_every_random_process_fits_every_papers_curriculum_sealed_or_not(name, task, fewest):
    experiment = trained_with(NAMED[name], task)
    check_training(experiment, fewest, 50)
    if name != "gpl-wolfpack" or task == "spread":  # it may leave one robot, a size that RWARE never lists
        check_training(sealed(experiment), fewest, 50)


def test_training_passes_through_no_size_above_those_of_training():
    with pytest.raises(BadInput, match="team of 8 agents through size 9"):
        check_training(trained_with(Shock(join=1)), 1, 25)


def test_training_passes_through_no_test_size():
    rosters = replace(paper("spread", "mappo").rosters, validation=(), test=(3, 5))
    with pytest.raises(BadInput, match="team of 4 agents through size 3"):
        check_training(trained_with(Churn(leave=0.1), rosters=rosters), 1, 25)


def test_training_passes_through_no_sealed_size():
    rosters = replace(paper("spread", "mappo").rosters, validation=(), test=(3, 5))
    with pytest.raises(BadInput, match="team size 3 is sealed"):
        check_training(sealed(trained_with(Churn(leave=0.1), rosters=rosters)), 1, 25)


def test_training_has_only_so_many_slots():
    with pytest.raises(BadInput, match="needs 11 slots for a team of 6 agents, and training has 10"):
        check_training(trained_with(Shock(leave=0.9, join=0.9)), 1, 25)


def test_a_team_of_one_cannot_lose_one():
    with pytest.raises(BadInput, match="would empty a team of 1"):
        check_training(trained_with(NAMED["lose-one"]), 1, 25)


def test_limits_say_how_far_a_team_may_go():
    assert CONSTANT.limits(4, 3) == (4, 4, 4)
    assert NAMED["churn"].limits(8, 1) == (4, 8, 8)
    assert NAMED["churn"].limits(2, 1) == (2, 2, 2)
    assert Churn(smallest=1, largest=10).limits(6, 3) == (3, 10, 10)
    assert Spans(smallest=2, largest=5).limits(3, 3) == (3, 5, 5)
    assert NAMED["replace-half"].limits(5, 1) == (5, 5, 7)


@pytest.mark.parametrize(
    ("process", "words"),
    [
        (CONSTANT, "constant"),
        (NAMED["lose-half"], "shock leave=0.5"),
        (Churn(leave=0.0123456789, join=1.0), "churn leave=0.0123456789 join=1"),
        (
            NAMED["gpl-wolfpack"],
            "churn smallest=1 leave=0.05 join=0.05 minimum_stay=26 per=team burst=0.7,0.3",
        ),
        (
            Schedule(events=(Event(5, leave=1), Event(9, join=0.5))),
            "schedule events=at 5 leave 1 join 0,at 9 leave 0 join 0.5",
        ),
    ],
)
def test_a_process_says_exactly_what_it_sets(process, words):
    assert str(process) == words
