"""The command line: exit codes, and one clear sentence for what cannot be."""

import subprocess
import sys

import pytest

from pc3d import cli
from pc3d.cli.team_sizes import parse_team_sizes
from pc3d.play.starts import LARGEST_TEAM, ROLLOUTS_PER_SIZE, rollout_keys
from pc3d.system.errors import BadInput


def refusal(capsys, *words: str) -> str:
    """The sentence that the command ends with, after checking that it is one line and exit code 2."""
    assert cli.main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


def test_help_names_every_command_and_does_not_import_jax():
    program = "import sys; from pc3d.cli import main; main(['--help']); sys.exit('jax' in sys.modules)"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    for name, description in cli.COMMANDS.items():
        assert name in finished.stdout
        assert description in finished.stdout


def test_without_a_command_the_help_is_shown_as_an_error(capsys):
    assert cli.main([]) == 2
    assert "usage: pc3d [--with MODULE] COMMAND" in capsys.readouterr().out


def test_a_misspelt_command_is_guessed(capsys):
    assert "perhaps you meant parity" in refusal(capsys, "party")


def test_a_misspelt_task_is_guessed(capsys):
    assert "no task called 'sprad': perhaps you meant spread" in refusal(capsys, "parity", "sprad")


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ("0", "at least 1 agent, not 0"),
        ("-3", "at least 1 agent, not -3"),
        ("1001", "spread is played by 1 to 1000 agents, not 1001"),
        ("two", "numbers and ranges such as 1-4,8"),
        ("4-2", "from small to large"),
        ("", "--team-sizes needs a value"),
    ],
)
def test_impossible_team_sizes_are_refused(capsys, sizes, sentence):
    assert sentence in refusal(capsys, "parity", "spread", f"--team-sizes={sizes}")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["train", "spread", "pc3d", "--episodes", "0", "--folder", ""], "--folder needs a value"),
        (["train", "spread", "pc3d", "--episodes", "0", "--folder="], "--folder needs a value"),
        (["report", "runs", "--out", ""], "--out needs a value"),
        (["report", ""], "an empty word is no name"),
        (["record", "runs", ""], "an empty word is no name"),
    ],
)
def test_what_an_unset_variable_of_a_shell_leaves_is_not_the_current_folder(
    words, sentence, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert sentence in refusal(capsys, *words)


@pytest.mark.parametrize("episodes", ["0", "-5"])
def test_at_least_one_episode_is_needed(capsys, episodes):
    assert "at least 1 episode" in refusal(capsys, "parity", "spread", f"--episodes={episodes}")


HUGE, ENDLESS = "9" * 400, "9" * 5000  # the second one is longer than Python turns into a number


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (f"parity spread --team-sizes {ENDLESS}", "numbers and ranges"),
        (f"train spread pc3d --train-sizes {ENDLESS}", "numbers and ranges"),
        (f"train spread pc3d --specialist {ENDLESS}", "--specialist is one team size"),
        (f"train spread pc3d --stages 1.0:{ENDLESS}", "numbers and ranges"),
        (f"tune spread mappo --rollouts {HUGE}", "rollouts must be from 1 to 1,000,000, not a huge number"),
        (f"train spread pc3d --episodes {HUGE}", "episodes must be a whole number of at most 19 digits"),
        ("parity spread --seed -1", "seed must be from 0 to"),
        (f"parity spread --seed {HUGE}", "seed must be from 0 to"),
        ("benchmark tasks --seconds nan", "seconds must be above 0 to"),
        ("benchmark tasks --seconds inf", "seconds must be above 0 to"),
        ("benchmark tasks --repeats 0", "repeats must be from 1 to"),
        ("benchmark tasks --case smal", "choice for --case called 'smal': perhaps you meant small"),
        ("train spread pc3d --seed nan", "--seed must be a whole number, not 'nan'"),
        ("train spread pc3d --episodes=1e3", "--episodes must be a whole number, not '1e3'"),
        ("train spread pc3d --horizon 2.5", "--horizon must be a whole number, not '2.5'"),
        ("train spread pc3d --env-timeout long", "--env-timeout must be a number, not 'long'"),
        ("train spread pc3d --checkpoint_every x", "--checkpoint-every must be a whole number, not 'x'"),
        ("train spread pc3d --ppo.learning-rate small", "--ppo.learning-rate must be a number, not 'small'"),
        ("train spread pc3d --critic.widths 64 b", "--critic.widths must be a whole number, not 'b'"),
        ("train spread pc3d --curriculum.stages.0.fraction x", "stages.0.fraction must be a number, not 'x'"),
        ("train spread pc3d --recipe.activation elu", "perhaps you meant relu"),
        (
            "train lbf pc3d --respawn perhaps",
            "no choice for --respawn called 'perhaps': there are True",
        ),
        ("watch lbf/pc3d --team-size x", "--team-size must be a whole number, not 'x'"),
        ("watch lbf/pc3d --team-size 3 --world huge", "no choice for --world called 'huge': there are"),
        ("watch lbf/pc3d --team-size 3 --actions best", "no choice for --actions called 'best': there are"),
        ("evaluate lbf/pc3d --rollouts many", "--rollouts must be a whole number, not 'many'"),
        ("tune spread mappo --trials x", "--trials must be a whole number, not 'x'"),
    ],
    ids=lambda words: words[:40],
)
def test_numbers_that_nobody_means_are_one_sentence(capsys, words, sentence):
    assert sentence in refusal(capsys, *words.split())


def test_starts_are_numbered_for_teams_that_can_be():
    rollout_keys(LARGEST_TEAM, 1, first=ROLLOUTS_PER_SIZE - 1)
    for size in (LARGEST_TEAM + 1, 10**30):
        with pytest.raises(BadInput, match="starts are numbered for teams of at most 2,146 agents"):
            rollout_keys(size, 1)


def test_a_missing_package_is_named_with_its_extra(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "mpe2", None)
    sentence = refusal_after_progress(capsys, "parity", "spread", "--team-sizes=2", "--episodes=1")
    assert "needs the package mpe2, of the extra originals: pip install -e '.[originals]' in the" in sentence
    assert "pip install 'FILE.whl[originals]'" in sentence  # pc3d is on no registry


def refusal_after_progress(capsys, *words: str) -> str:
    """The last line: a progress bar may have been shown before it."""
    assert cli.main(words) == 2
    return capsys.readouterr().err.strip().splitlines()[-1]


@pytest.mark.parametrize("command", ["methods", "train --help"])
def test_output_that_cannot_be_written_is_one_sentence(command):
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-m", "pc3d", *command.split()]
        ended = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 2, ended.stderr
    assert "No space left on device" in ended.stderr
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["methods", "train --help"])
def test_whoever_has_seen_enough_of_the_output_is_told_nothing_more(command):
    words = [sys.executable, "-m", "pc3d", *command.split()]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 0)


@pytest.mark.parametrize("words", ["nonsense", "train --nonsense", "train spread pc3d --episodes 0"])
def test_a_complaint_that_cannot_be_written_is_still_an_exit_code(words):
    with open("/dev/full", "w") as full:
        ended = subprocess.run([sys.executable, "-m", "pc3d", *words.split()], stderr=full, check=False)
    assert ended.returncode == 2


def test_output_that_is_closed_is_no_error():
    words = ["sh", "-c", f"{sys.executable} -m pc3d train --help >&-"]
    ended = subprocess.run(words, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("METHODS = [1]", "added.METHODS must be a dictionary"),
        ("METHODS = {'mine': 3}", "added.METHODS: mine must be a Method, and it is of type int"),
        ("METHODS = {3: None}", "added.METHODS: names are text, not 3"),
        ("METHODS = {'a/b': None}", "a task or method cannot be called 'a/b'"),
        ("TASKS = {'mine': object}", "added.TASKS: mine must be a TaskEntry"),
        ("CRITICS = 3", "added.CRITICS must be a dictionary"),
    ],
)
def test_a_module_that_adds_something_else_is_one_sentence(content, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "added", raising=False)
    (tmp_path / "added.py").write_text(content)
    assert sentence in refusal(capsys, "--with", "added", "methods")


def test_unknown_options_exit_with_2(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["parity", "spread", "--no-such-option"])
    assert stop.value.code == 2


def test_an_interrupt_exits_with_75_and_no_traceback(capsys, monkeypatch):
    def interrupt(words):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_run", interrupt)
    assert cli.main(["tasks"]) == 75
    assert capsys.readouterr().err == "pc3d: interrupted; the same command begins again or continues\n"


def test_parity_reports_and_exits_with_0(capsys):
    assert cli.main(["parity", "spread", "--team-sizes", "2", "--episodes", "2"]) == 0
    assert "50 steps compared, no mismatch" in capsys.readouterr().out


def test_parity_exits_with_1_on_a_mismatch(capsys, monkeypatch):
    monkeypatch.setattr("pc3d.tasks.spread.world.DAMPING", 0.2)
    assert cli.main(["parity", "spread", "--team-sizes", "3", "--episodes", "1"]) == 1
    assert "mismatches; the first" in capsys.readouterr().out


def test_tasks_are_listed(capsys):
    assert cli.main(["tasks"]) == 0
    assert "three nearest landmarks" in capsys.readouterr().out


def test_the_benchmark_prints_speeds_of_port_and_original(capsys):
    words = [
        "benchmark",
        "tasks",
        "--task",
        "spread",
        "--team-sizes",
        "2",
        "--repeats",
        "1",
        "--seconds",
        "0.01",
    ]
    assert cli.main(words) == 0
    printed = capsys.readouterr().out
    assert "Environment steps per second" in printed
    assert "×" in printed


@pytest.mark.parametrize(
    ("text", "sizes"), [("3", (3,)), ("1-4,8", (1, 2, 3, 4, 8)), (" 8, 2 - 3 ", (2, 3, 8)), ("2,2", (2,))]
)
def test_team_sizes_are_written_as_numbers_and_ranges(text, sizes):
    assert parse_team_sizes(text) == sizes


def test_absurd_ranges_are_refused():
    with pytest.raises(BadInput):
        parse_team_sizes("1-1000000000")
