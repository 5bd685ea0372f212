"""`examine` names what is wrong, rule by rule, and accepts what is right."""

import signal
import sys
from functools import partial

import pytest

from pc3d.cli import main
from pc3d.experiment.action_space import Box, Choice
from pc3d.play.hosted.contract import _answering_within, examine, told_once
from pc3d.system.imports import load_object
from pc3d.tasks.pettingzoo import parallel_env
from tests.play.hosted import sample_task
from tests.play.hosted.sample_task import STEPS

HERE = "tests.play.hosted.sample_task"


def problems(name, **options):
    return examine(getattr(sample_task, name), (2, 3), **options).problems


def test_a_good_task_is_described_as_it_is():
    found = examine(sample_task.make, (1, 2, 5))
    assert found.problems == []
    assert found.notes == []
    assert found.world is not None
    assert found.world.observation_shape == (2,)
    assert found.world.horizon == STEPS
    assert len(found.world.action_names) == 3


def test_names_for_parts_of_an_observation_are_kept_in_their_order():
    found = examine(sample_task.Named, (2, 3))
    assert found.problems == []
    assert found.world is not None
    parts = [(part.name, part.width) for part in found.world.observation_parts]
    assert parts == [("own place", 1), ("way to the middle", 1)]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("not_callable", "it is a int, not a function"),
        ("unmakeable", "with 2 agents: make(2) raised OSError: the arena is closed (sample_task.py, line"),
        ("nothing_of_use", "must return a PettingZoo ParallelEnv, but SimpleNamespace has no step"),
        ("TurnBased", "return the parallel one"),
        ("TooFew", "make(2) must give 2 agents, but env.agents has 1"),
        ("OldReset", "reset(seed=1) raised TypeError"),
        ("LoneReset", "reset must return two dictionaries, observations and infos"),
        ("OldStep", "step must return five dictionaries"),
        ("WideTeams", "shape (4,) with 2 agents and (5,) with 3: every agent must see equally many numbers"),
        ("UnlikeAgents", "the observation of agent_1 has shape (2,), another had (3,)"),
        ("Growing", "at step 4: the observation of agent_0 has shape (3,), another had (2,)"),
        ("NestedViews", "the observation of agent_0 is a dict, not an array of real numbers: join its parts"),
        ("Words", "the observation of agent_0 is an array of words, not an array of real numbers"),
        ("Complex", "the observation of agent_0 is an array of complex64 numbers, not an array of real"),
        ("TooLarge", "the observation of agent_0 holds a number that is not finite in 32 bits"),
        ("Rewarding", "at step 1: the reward of agent_0 is a NoneType, not one number"),
        ("TwoRewards", "at step 1: the reward of agent_0 is an array of shape (2,), not one number"),
        ("EndlessReward", "at step 1: the reward of agent_0 is not a finite number in 32 bits: 1e+300"),
        ("TwoEnds", "at step 1: the termination of agent_0 is an array of shape (2,), not one number"),
        ("NotANumber", "holds a number that is not finite"),
        ("SeveralChoices", "only Discrete and a bounded Box work; let each combination of choices"),
        (
            "Unbounded",
            "the action's number 0 needs two finite bounds, the lower one first, not -inf and 1; give every",
        ),
        ("WholeNumbers", "a Box of actions must be of real numbers; let each whole number stand for one"),
        ("MaskedNumbers", "agent_0 has masks, but only a Discrete action space can have them"),
        ("MaskOnce", "at step 1: agent_0 got no action_mask, though there was one before"),
        ("MaskOfNothing", "at step 2: the mask of agent_0 allows no action: leave it one that does nothing"),
        ("NarrowMask", "the action_mask of agent_0 is not 3 zeros and ones, one for every action"),
        ("UnlikeActions", "agent_0 and agent_1 have different action spaces"),
        ("MoreActionsInLargerTeams", "an action is one of 5: action 0, action 1, action 2"),
        ("NoReward", "agent_0 got no reward"),
        ("Raising", "at step 4: step raised ValueError: the wheel came off"),
        ("Lingering", "at step 3: agent_0 is done and still in env.agents while others play on"),
        ("Vanishing", "at step 1: agent_0 is gone from env.agents without a word"),
        ("ComingBack", "at step 4: agent_0 came back: who joins is a new agent without a memory"),
        (
            "TooManyAtOnce",
            "at step 2: 3 agents are there at once, and 2 slots for them: give the environment",
        ),
        ("AllReplaced", "at step 3: first_0 found no slot: one that was just left stays empty for a step"),
        ("EmptyEarly", "at step 3: env.agents is empty before the end"),
        ("TooFewSlots", "agent_slots must be a whole number, for make(2) at least 2, not 1"),
        ("NoLimit", "give one with --horizon N"),
        ("Unseeded", "two new environments differ at moment 0"),
        ("UnseededSteps", "two new environments differ at moment 1"),
        (
            "NamedWideTeams",
            "observations have shape (4,) with 2 agents and (5,) with 3: every agent must see",
        ),
        ("FarTooWide", "the observation of agent_0 has 1,000,001 numbers, and 1,000,000 are the most"),
        ("NamedInPart", "observation_parts has 1 numbers in all, and an observation has 2"),
        ("NamedWithoutWidths", "observation_parts must say of each part how many numbers it has"),
        ("Leaking", "something is left over from one episode to the next"),
    ],
)
def test_what_is_wrong_is_named(name, sentence):
    assert sentence in problems(name)[0]


def test_who_leaves_and_joins_is_told_in_a_sentence():
    found = examine(sample_task.Relay, (2, 3))
    assert found.problems == []
    assert found.world is not None
    assert (found.world.roster_changes, found.world.spare_slots) == (True, 1)
    assert found.notes[0] == (
        "the team may change while it plays: agent_0 left and late_1 and late_2 joined in 6 steps of random "
        "play after a start with 2 agents; 4 lives in 3 slots, at most 3 agents at once"
    )


def test_our_own_view_of_a_changing_team_is_such_a_task():
    found = examine(partial(parallel_env, "spread", roster="churn-fast:smallest=1", horizon=12), (3,))
    assert found.problems == []
    assert found.world is not None
    assert found.world.roster_changes


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("OwnRewards", "agents get different rewards: the team's reward is their mean"),
        ("OutOfBounds", "observations leave the bounds"),
    ],
)
def test_what_is_only_odd_is_noted(name, sentence):
    found = examine(getattr(sample_task, name), (2, 3))
    assert found.world is not None
    assert sentence in found.notes[0]


def test_a_limit_is_told_by_an_attribute_or_met_by_playing_or_given():
    met = examine(sample_task.MeasuredLimit, (2,)).world
    given = examine(sample_task.NoLimit, (2,), horizon=9).world
    assert met is not None
    assert met.horizon == STEPS
    assert given is not None
    assert given.horizon == 9


def test_actions_numbered_from_one_are_played_and_called_as_such():
    found = examine(sample_task.Shifted, (2, 3))
    assert found.problems == []
    assert found.world is not None
    assert found.world.action_names == ("action 1", "action 2", "action 3")


@pytest.mark.parametrize(
    ("name", "space"),
    [
        ("Continuous", Box(("number 0",), (-0.1,), (0.1,))),
        ("Masked", Choice(("action 0", "action 1", "action 2"), masked=True)),
        ("MaskedViews", Choice(("action 0", "action 1", "action 2"), masked=True)),
        ("MaskOfNothingAtTheEnd", Choice(("action 0", "action 1", "action 2"), masked=True)),
    ],
)
def test_real_numbers_and_masks_are_understood(name, space):
    found = examine(getattr(sample_task, name), (2, 3))
    assert found.problems == []
    assert found.notes == []
    assert found.world is not None
    assert found.world.observation_shape == (2,)
    assert found.world.action_space.names == space.names
    assert (found.world.action_space.kind, found.world.masks_actions) == (space.kind, space.masked)
    if isinstance(space, Box):
        assert found.world.action_low == pytest.approx(space.low)


def test_a_check_explains_the_actions(capsys):
    assert main(["check", f"{HERE}:Continuous", "--team-sizes", "2"]) == 0
    assert "1 real number: number 0 from -0.1 to 0.1" in capsys.readouterr().out
    assert main(["check", f"{HERE}:MaskedViews", "--team-sizes", "2"]) == 0
    assert "masks say" in capsys.readouterr().out


def test_a_world_that_does_not_answer_is_named(capsys):
    assert main(["check", f"{HERE}:Sleeping", "--team-sizes", "2", "--env-timeout", "0.5"]) == 2
    assert "with 2 agents: at step 3: it did not answer within 0.5 s" in capsys.readouterr().out


def test_a_reward_may_be_an_array_of_one_number():
    assert problems("OneRewardInAnArray") == []


def test_the_command_says_what_it_found_and_exits_with_0_or_2(capsys):
    assert main(["check", f"{HERE}:make", "--team-sizes", "2-3"]) == 0
    assert "is fine with team sizes 2-3" in capsys.readouterr().out
    assert main(["check", f"{HERE}:WideTeams", "--team-sizes", "2-3"]) == 2
    printed = capsys.readouterr().out
    assert "problem: observations have shape" in printed
    assert "1 problem(s)" in printed


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("spread", "own code is named module:name"),
        ("os.path:join:x", "own code is named module:name"),
        ("no_such_module:make", "there is no module no_such_module"),
        (f"{HERE}:nobody", "has no nobody"),
        (
            "tests.play.hosted.broken_import:make",
            "importing tests.play.hosted.broken_import failed: ZeroDivisionError: division by zero "
            "(broken_import.py, line ",
        ),
    ],
)
def test_a_path_that_leads_nowhere_is_one_sentence(path, sentence, capsys):
    assert main(["check", path]) == 2
    errors = capsys.readouterr().err
    assert sentence in errors
    assert errors.count("\n") == 1


def test_a_slip_in_own_code_is_shown_where_it_is(tmp_path, monkeypatch, capsys):
    (tmp_path / "slip.py").write_text("\ndef make(:\n")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "slip:make"]) == 2
    assert capsys.readouterr().err.endswith("SyntaxError: invalid syntax (slip.py, line 2)\n")


def test_the_place_of_an_error_is_in_own_code_and_its_words_are_no_page(tmp_path, monkeypatch, capsys):
    (tmp_path / "calls.py").write_text("import json\ndef make(size):\n    json.loads('{' + size * ' ')\n")
    (tmp_path / "talks.py").write_text("def make(size):\n    raise ValueError('x' * 999)\n")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "calls:make"]) == 2
    assert "(calls.py, line 3)" in capsys.readouterr().out
    assert main(["check", "talks:make", "--team-sizes", "2"]) == 2
    assert f"ValueError: {297 * 'x'}... (talks.py, line 2)" in capsys.readouterr().out.replace("\n", "")


def test_what_is_wrong_with_every_size_is_said_once(capsys):
    assert main(["check", "os:system", "--team-sizes", "2-4"]) == 2
    told = capsys.readouterr().out
    assert "problem: with 2 agents: make(2) raised TypeError: " in told
    assert "; the same with 3, 4\nos:system cannot be trained on yet: 1 problem(s)" in told
    assert told_once([(1, "odd"), (2, "even"), (3, "odd")]) == [
        "with 1 agent: odd; the same with 3",
        "with 2 agents: even",
    ]


@pytest.mark.usefixtures("no_task_stays_known")
@pytest.mark.parametrize(
    "code",
    [
        "raise SystemExit(0)",
        "def make(team_size): raise SystemExit(0)",
        f"from {HERE} import Meeting\nclass make(Meeting):\n    def reset(self, **_): raise SystemExit(0)",
        f"from {HERE} import Meeting\nclass make(Meeting):\n    def step(self, _): raise SystemExit(0)",
    ],
)
def test_own_code_that_exits_is_named_and_does_not_end_us(code, tmp_path, monkeypatch, capsys):
    (tmp_path / "exiting.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "exiting", raising=False)
    assert main(["check", "exiting:make", "--team-sizes", "2"]) == 2
    told = capsys.readouterr()
    assert "SystemExit: 0 (exiting.py" in told.out + told.err


MUTE = """class Mute(Exception):
    def __str__(self): raise ValueError
def make(team_size): raise Mute
"""
TOUCHY = """class make:
    def __init__(self, _): pass
    def __getattr__(self, name): raise RuntimeError(name)
"""


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (MUTE, "make(2) raised Mute (odd.py, line 3)"),
        (TOUCHY, "what make(2) gave raised RuntimeError: agent_iter (odd.py, line 3)"),
    ],
)
def test_errors_and_attributes_that_are_code_themselves_are_named(
    code, sentence, tmp_path, monkeypatch, capsys
):
    (tmp_path / "odd.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "odd", raising=False)
    assert main(["check", "odd:make", "--team-sizes", "2"]) == 2
    assert sentence in capsys.readouterr().out


def test_parts_that_are_not_there_are_named():
    class NoRewards(sample_task.Meeting):
        def step(self, actions):
            views, _, *rest = super().step(actions)
            return views, None, *rest

    class NoActions(sample_task.Meeting):
        def action_space(self, agent):
            raise KeyError(agent)

    assert "step must return five dictionaries" in examine(NoRewards, (2,)).problems[0]
    assert "action_space() raised KeyError: 'agent_0'" in examine(NoActions, (2,)).problems[0]


@pytest.mark.usefixtures("no_task_stays_known")
def test_a_jax_task_without_all_its_parts_is_a_problem_and_no_traceback(tmp_path, monkeypatch, capsys):
    (tmp_path / "unfinished.py").write_text("from pc3d.tasks.task import Task\nclass Game(Task): ...\n")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "unfinished:Game", "--team-sizes", "2"]) == 2
    assert (
        "problem: it cannot be made: TypeError: Can't instantiate abstract class" in capsys.readouterr().out
    )


def test_a_file_in_the_current_folder_never_replaces_an_installed_module(tmp_path, monkeypatch):
    (tmp_path / "colorsys.py").write_text("raise SystemExit('the wrong module')")
    (tmp_path / "only_here.py").write_text("found = 'here'")
    (tmp_path / "not_asked_for.py").write_text("")
    monkeypatch.chdir(tmp_path)
    assert load_object("colorsys:rgb_to_hsv") is not None
    assert load_object("only_here:found") == "here"
    with pytest.raises(ModuleNotFoundError):
        __import__("not_asked_for")


def test_an_interrupt_that_had_to_wait_is_not_taken_for_a_world_that_hangs():
    heard = []
    before = signal.signal(signal.SIGALRM, lambda number, _: heard.append(number))
    try:
        with _answering_within(60):
            signal.raise_signal(signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert heard == [signal.SIGALRM]
