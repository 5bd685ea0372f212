"""Twins share everything until the change; and `pc3d evaluate --roster` from beginning to end."""

import re
from functools import lru_cache
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from pc3d import cli
from pc3d.cli import changing_teams
from pc3d.evaluation.changing.context_lag import context_lag
from pc3d.evaluation.changing.run import read_changes
from pc3d.evaluation.changing.twins import CHANGED, LATER, TWINS, UNCHANGED, WIPED, play_twins
from pc3d.evaluation.run import EvaluationSettings
from pc3d.experiment.named_rosters import NAMED
from pc3d.play.actor_team import ActorTeam
from pc3d.play.arena import CompiledArena
from pc3d.tasks.spread.world import Spread
from tests.evaluation.policies import finished_run, small_policy

ROLLOUTS = 4
BRIEF = ["--rollouts", str(ROLLOUTS), "--reference-rollouts", "2"]


@lru_cache
def twins_of(name, size=4):
    """In one world, six agents wide, and so by one program for each process."""
    arena = CompiledArena(Spread(6)).with_roster(NAMED[name])
    return play_twins(arena, ActorTeam(small_policy().actor), size, ROLLOUTS)


def before(twins, name):
    steps = np.arange(twins.rewards[name].shape[1])
    return np.where(steps < twins.first_changes[:, None], twins.rewards[name], 0)


@pytest.mark.parametrize("name", ["lose-half", "replace-half"])
def test_until_the_change_twins_are_the_same_to_the_bit_and_then_differ(name):
    twins = twins_of(name)
    assert (twins.first_changes < 25).all()
    for other in (UNCHANGED, WIPED):
        np.testing.assert_array_equal(before(twins, CHANGED), before(twins, other))
        differs = (twins.rewards[CHANGED] != twins.rewards[other]).any(axis=1)
        assert differs.any() if other == WIPED else differs.all()  # memories do not always matter
        # What happens after a step is seen in the next, at which the new team decides for the first time.
        apart = twins.rewards[CHANGED] - twins.rewards[other]
        first = np.take_along_axis(apart, twins.first_changes[:, None], axis=1)
        assert (first != 0).all() == (other == UNCHANGED)


def test_the_later_team_is_there_from_the_start():
    twins = twins_of("lose-half")
    assert (twins.sizes[:, 0] == 4).all()
    assert (twins.sizes[:, -1] == 2).all()
    assert (twins.rewards[LATER][:, 0] != twins.rewards[CHANGED][:, 0]).all()


def test_a_policy_plays_the_same_twins_again():
    twins = twins_of("lose-half")
    arena = CompiledArena(Spread(6)).with_roster(NAMED["lose-half"])
    again = play_twins(arena, ActorTeam(small_policy().actor), 4, 2)
    np.testing.assert_array_equal(again.present, twins.present[:2])
    for name in TWINS:
        np.testing.assert_allclose(again.rewards[name], twins.rewards[name][:2], rtol=1e-4, atol=1e-4)


def test_every_newcomer_is_waited_for_and_so_are_the_others_at_that_moment():
    waiting = twins_of("replace-half").waiting
    assert (len(waiting.joiners.steps), len(waiting.incumbents.steps)) == (2 * ROLLOUTS, 2 * ROLLOUTS)
    left = 25 - twins_of("replace-half").first_changes
    assert (waiting.joiners.steps.reshape(ROLLOUTS, 2) <= left[:, None]).all()
    assert twins_of("lose-half").waiting is None


def test_contexts_are_followed_from_the_change_on_for_stayers_and_newcomers():
    arena = CompiledArena(Spread(6)).with_roster(NAMED["replace-half"])
    twins = twins_of("replace-half")
    lag = context_lag(arena, small_policy().networks, twins, ROLLOUTS, greedy=False)
    steps = 25 - twins.first_changes.max()
    for group in ("stayers", "newcomers"):
        assert len(lag[group]["gate"]) == len(lag[group]["alignment"]) == steps
        assert all(0 <= gate <= 1 for gate in lag[group]["gate"])
        assert all(-1 <= cosine <= 1 for cosine in lag[group]["alignment"])
    assert lag["stayers"] != lag["newcomers"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return finished_run(tmp_path_factory.mktemp("runs") / "spread" / "mappo" / "seed-0", method="mappo")


def test_recovery_and_regret_are_printed_and_written(run, capsys):
    words = ["--roster", "lose-half", "--team-sizes", "3-4", "--horizon", "20", *BRIEF]
    assert cli.main(["evaluate", str(run.path), *words]) == 0
    printed = capsys.readouterr().out
    for told in ("recovered", "regret", "3 → 2", "4 → 2", "roster-lose-half.json"):
        assert told in printed
    found = read_changes(run.path / "roster-lose-half.json")
    assert (found["roster"], found["horizon"], found["process"]["kind"]) == ("lose-half", 20, "shock")
    one = found["by_size"]["4"]
    assert {name: len(returns) for name, returns in one["returns"].items()} == dict.fromkeys(TWINS, ROLLOUTS)
    assert one["scripted"] > one["random"]
    assert one["regret"] is not None
    assert len(one["recovery"]["steps"]) == ROLLOUTS
    assert one["first_contribution"] == {}  # nobody joins
    assert not (run.path / "scores.csv").exists()


def test_many_changes_are_held_against_constant_teams(run, capsys):
    words = ["--roster", "churn-fast", "--team-sizes", "4", "--out", str(run.path / "out"), *BRIEF]
    assert cli.main(["evaluate", str(run.path), *words]) == 0
    printed = capsys.readouterr().out
    for told in ("constant", "joiner"):
        assert told in printed
    one = read_changes(run.path / "out" / "roster-churn-fast.json")["by_size"]["4"]
    assert 2 <= one["mean_present"] <= 4
    assert one["changes"] > 0
    waits = one["first_contribution"]
    assert sum(row[1] + row[2] for row in waits["joiners"]["life_table"]) > 0
    assert one["cost"] == pytest.approx(np.mean(one["mixture"]) - np.mean(one["returns"][CHANGED]), abs=1e-4)


@pytest.mark.parametrize("roster", ["replace-half", "churn"])
def test_the_tables_fit_a_narrow_terminal_and_say_what_their_columns_are(roster):
    median = {"share": 1.0, "median": 100.0}
    one = {
        **({"after": 16} if roster == "replace-half" else {}),
        **{"depth": -12.345, "recovery": median, "regret": -12.345, "cost": 1234.5678},
        **{"mean_present": 16.25, "changes": 16.25, "mixture": [-1234.5]},
        "returns": {name: [-1234.5] for name in TWINS},
        "first_contribution": {"joiners": median, "incumbents": median},
    }
    (changing,) = changing_teams.rosters_asked_for(roster, EvaluationSettings(), 1)
    written = StringIO()
    changing_teams._show(Console(width=80, file=written), "a run", changing, {16: one})
    told = written.getvalue()
    assert "…" not in told
    once = (*changing_teams.ONCE, *changing_teams.RECOVERY)
    headings = once if changing.once else changing_teams.OFTEN
    for heading in (*headings, *changing_teams.JOINING):
        if heading not in ("team", "return"):
            assert len(re.findall(rf"\b{heading}\b", told)) >= 2, heading  # its column, and the words


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--roster", "lose-two"], "perhaps you meant lose-one"),
        (["--roster", "shock"], "perhaps you meant shocks"),
        (["--roster", "lose-one", "--team-sizes", "1"], "would empty a team of 1 agents"),
        (["--roster", "lose-half", "--team-sizes", "1"], "changes nothing"),
        (["--roster", "gain-one:join=999", "--team-sizes", "2"], "played by 1 to 1000 agents"),
        (["--roster", "constant"], "nothing changes"),
        (["--roster", "churn", "--world", "scaled"], "neither --world nor --backend"),
        (["--roster", "churn", "--respawn", "True"], "no rule called respawn"),
        (["--roster", "churn", "--horizon", "0"], "horizon must be from 1"),
    ],
)
def test_what_cannot_be_is_one_sentence(run, capsys, words, sentence):
    assert cli.main(["evaluate", str(run.path), *words]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert sentence in errors
