"""The command line. A command's module is imported only when it is called, so that help comes at once."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from itertools import pairwise
from typing import IO, Any

from pc3d.cli.extensions import load_extensions
from pc3d.system import processes
from pc3d.system.errors import BadInput, Interrupted, Pc3dError, refuse_unknown, shortened
from pc3d.system.plain import printable
from pc3d.system.signals import forget_interrupts, ignore_signals, terminated_as_interrupted

COMMANDS = {  # in the order of work; each is the module of its name beside this one
    "demo": "train PC3D and MAPPO on Spread, then meet unseen team sizes (minutes)",
    "tasks": "list the tasks: team sizes, splits, observations, actions, returns",
    "methods": "list the methods and what each one has",
    "check": "say whether a task of your own can be trained on, and what is wrong",
    "train": "train a method on a task, or continue a run that was stopped",
    "evaluate": "score finished policies at every team size",
    "watch": "play one episode of a policy and make a film or a page of it",
    "report": "make the paper's tables and figures, and a web page, from your runs",
    "study": "many runs: tasks × methods × seeds, on all cores, resumable",
    "tune": "search for better settings; test sizes stay unseen",
    "unseal": "give a run that was trained with --sealed its test sizes, once all is chosen",
    "record": "keep finished runs as small results for reports and studies",
    "export": "write one agent's policy as a file that needs neither JAX nor pc3d",
    "parity": "check a task against the original game, step by step",
    "benchmark": "measure speed on this machine, next to the originals",
    "doctor": "look at this machine: versions, threads, cache, disk, equal bits",
    "completion": "print a script that completes commands and options in your shell",
}


def process() -> int:
    """The whole life of the command `pc3d`: when its exit code is known, nothing can change it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us; the parser of options wants one
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - to our end
    try:
        code = main()
    except SystemExit as stop:  # the parser of options has said why
        code = BadInput.exit_code if isinstance(stop.code, str) else stop.code or 0
    code = _all_written(code)
    ignore_signals()  # while Python takes itself down, an interrupt would only be a traceback
    forget_interrupts()
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; whatever we expect may go wrong becomes one sentence and an exit code."""
    processes.end_with_parent_if_asked()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with terminated_as_interrupted():
            return _run(load_extensions(words))
    except Pc3dError as error:
        _complain(printable(str(error)))
        return error.exit_code
    except BrokenPipeError:  # whoever read our output has seen enough
        _forget(sys.stdout)
        return 0
    except OSError as error:  # a name that is too long, a folder where a file should be, a failing disk
        place = f": {shortened(str(error.filename))}" if error.filename else ""
        _complain(f"{error.strerror or error}{printable(place)}")
        return BadInput.exit_code
    except KeyboardInterrupt:
        _complain("interrupted; the same command begins again or continues")
        return Interrupted.exit_code


def _all_written(code: int) -> int:
    """The exit code when all that was printed is written; Python's own last attempt would be a traceback."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _forget(sys.stdout)
        if code == 0 and not isinstance(error, BrokenPipeError):
            _complain(f"not all could be printed: {error.strerror}")
            return BadInput.exit_code
    return code


def _complain(sentence: str) -> None:
    """The one sentence; where even that cannot be written, the exit code still says what is wrong."""
    try:
        print(f"pc3d: {sentence}", file=sys.stderr)
    except OSError:
        _forget(sys.stderr)


def _forget(stream: IO[str]) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run(words: list[str]) -> int:
    if words[:1] in (["--version"], ["version"]):
        print(f"pc3d {version('pc3d')}")
        return 0
    if words[:1] == ["help"]:  # pc3d help train is pc3d train --help
        words = [*words[1:2], "--help"]
    if not words or words[0] in ("-h", "--help"):
        print(_help())
        return 0 if words else 2
    name, *rest = words
    refuse_unknown("command", name, COMMANDS)
    _refuse_empty(words)
    module = import_module(f"pc3d.cli.{name}")
    if hasattr(module, "parse"):  # a command whose defaults depend on its first words
        return int(module.run(module.parse(rest)))
    if not hasattr(module, "Command"):  # where there is nothing to choose, it runs at once
        return int(parsed(module.run, name, rest))
    return int(module.run(parsed(module.Command, name, rest)))


def _refuse_empty(words: Sequence[str]) -> None:
    """What a shell makes of a variable that is not set would be the current folder where a path is meant."""
    for before, word in pairwise(words):
        name, said, value = word.partition("=")
        if name.startswith("--") and said and not value:
            raise BadInput(f"{name} needs a value")
        if not word:
            raise BadInput(
                f"{before} needs a value" if before.startswith("--") else "an empty word is no name"
            )


def parsed(command: Any, name: str, words: list[str]) -> Any:
    """What the words after a command's name say."""
    import tyro

    from pc3d.cli.booleans import booleans_of, with_values
    from pc3d.cli.values import refuse_values

    words = with_values(words, booleans_of(command))
    refuse_values(command, words)
    return tyro.cli(
        command,
        prog=f"pc3d {name}",
        description=f"{COMMANDS[name]}.",
        args=words,
        config=(tyro.conf.FlagConversionOff,),
    )


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {description}" for name, description in COMMANDS.items()]
    usage = "usage: pc3d [--with MODULE] COMMAND [--help] ...   (or: pc3d help COMMAND, pc3d --version)"
    return "\n".join([usage, "", *lines])
