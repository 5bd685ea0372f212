"""Ctrl-C and SIGTERM in moments in which Python would drop an interrupt or print a traceback."""

import signal
import subprocess
import sys
import time
from importlib import import_module

import pytest

from pc3d.system.processes import environment_of_child
from pc3d.system.signals import stop_signals, terminated_as_interrupted


class SignalledInItsFinalizer:
    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __del__(self) -> None:
        signal.raise_signal(self.number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_in_a_finalizer_is_not_lost(number, capsys):
    def work() -> None:
        SignalledInItsFinalizer(number)  # gone as soon as it is made
        time.sleep(5)

    with pytest.raises(KeyboardInterrupt), terminated_as_interrupted():
        work()
    assert capsys.readouterr().err == ""


class SignalledWhileAClassIsMade:
    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __set_name__(self, owner: type, name: str) -> None:
        signal.raise_signal(self.number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_that_python_calls_another_error_is_still_one(number):
    def work() -> None:
        type("Holder", (), {"thing": SignalledWhileAClassIsMade(number)})

    with pytest.raises(KeyboardInterrupt), terminated_as_interrupted():
        work()


SIGNALLED_MODULE = """
import signal
for _ in range({times}):
    signal.raise_signal({number})
finished = True
"""


@pytest.mark.parametrize(("times", "finished"), [(1, True), (2, False)])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_import_is_finished_first_but_not_if_asked_twice(number, times, finished, tmp_path, monkeypatch):
    name = f"signalled_{int(number)}_{times}"
    (tmp_path / f"{name}.py").write_text(SIGNALLED_MODULE.format(times=times, number=int(number)))
    monkeypatch.syspath_prepend(str(tmp_path))

    def work() -> None:
        import_module(name)
        time.sleep(5)

    with pytest.raises(KeyboardInterrupt), terminated_as_interrupted():
        work()
    assert (name in sys.modules) == finished


def test_other_errors_stay_what_they_are():
    def work() -> None:
        raise RuntimeError("of its own")

    with pytest.raises(RuntimeError, match="of its own"), terminated_as_interrupted():
        work()


def test_what_we_are_told_to_ignore_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with terminated_as_interrupted(), stop_signals() as stop:
            signal.raise_signal(signal.SIGINT)
        assert not stop.asked
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_the_last_word_changes_nothing(number):
    program = f"""
import atexit, os, sys
from pc3d.cli import process
atexit.register(lambda: os.kill(os.getpid(), {int(number)}))
sys.argv = ["pc3d", "methods"]
sys.exit(process())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_in_an_executed_string_does_not_change_the_exit_code(tmp_path):
    program = """
import signal, sys
from pc3d import cli

def main():
    try:
        exec("import signal; signal.raise_signal(signal.SIGINT)")
    except KeyboardInterrupt:
        return 75

cli.main = main
sys.exit(cli.process())
"""
    (tmp_path / "program.py").write_text(program)
    words = [sys.executable, "-m", "program"]  # as `python -m pc3d`, for which alone Python looks back
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (75, "")


def test_a_worker_whose_starter_is_dead_already_ends_at_once():
    words = [sys.executable, "-m", "pc3d", "methods"]
    with_parent = subprocess.run(words, env=environment_of_child(), capture_output=True, check=False)
    assert with_parent.returncode == 0
    # A shell in between is the worker's parent, so that the named one is not.
    orphan = subprocess.run(
        ["sh", "-c", f"{' '.join(words)}; exit $?"],
        env=environment_of_child(),
        capture_output=True,
        check=False,
    )
    assert orphan.returncode == 128 + signal.SIGTERM
