"""The command line. A command's module is imported only when it is called, so that help comes at once."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from pc3d.cli.extensions import load_extensions
from pc3d.system import processes
from pc3d.system.errors import Interrupted, Pc3dError, refuse_unknown
from pc3d.system.signals import forget_interrupts, ignore_signals, terminated_as_interrupted

COMMANDS = {  # each is the module of its name beside this one
    "tasks": "list the tasks: team sizes, splits, observations, actions, returns",
    "parity": "check a task against the original game, step by step",
    "benchmark": "measure speed on this machine, next to the originals",
    "methods": "list the methods and what each one has",
    "train": "train a method on a task, or continue a run that was stopped",
    "report": "make the paper's tables and figures, and a web page, from your runs",
    "evaluate": "score finished policies at every team size",
    "watch": "play one episode of a policy and make a film or a page of it",
    "export": "write one agent's policy as a file that needs neither JAX nor pc3d",
    "study": "many runs: tasks × methods × seeds, on all cores, resumable",
    "tune": "search for better settings; test sizes stay unseen",
    "record": "keep finished runs as small results for reports and studies",
    "check": "say whether a task of your own can be trained on, and what is wrong",
    "completion": "print a script that completes commands and options in your shell",
    "doctor": "look at this machine: versions, threads, cache, disk, equal bits",
    "demo": "train PC3D and MAPPO on Spread, then meet unseen team sizes (minutes)",
}


def process() -> int:
    """The whole life of the command `pc3d`: when its exit code is known, nothing can change it."""
    code = main()
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
        print(f"pc3d: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("pc3d: interrupted; the same command begins again or continues", file=sys.stderr)
        return Interrupted.exit_code


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(_help())
        return 0 if words else 2
    name, *rest = words
    refuse_unknown("command", name, COMMANDS)
    module = import_module(f"pc3d.cli.{name}")
    if hasattr(module, "parse"):  # a command whose defaults depend on its first words
        return int(module.run(module.parse(rest)))
    import tyro

    called = getattr(module, "Command", module.run)  # where there is nothing to choose, it runs at once
    chosen = tyro.cli(called, prog=f"pc3d {name}", description=f"{COMMANDS[name]}.", args=rest)
    return int(chosen if called is module.run else module.run(chosen))


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {description}" for name, description in COMMANDS.items()]
    return "\n".join(["usage: pc3d [--with MODULE] COMMAND [--help] ...", "", *lines])
