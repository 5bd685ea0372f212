"""`pc3d completion bash|zsh|fish`: a script that lets the shell complete commands, options and names."""

import contextlib
import io
import re
from dataclasses import dataclass
from typing import Literal

import tyro

from pc3d.cli import COMMANDS, main
from pc3d.experiment.methods import METHODS
from pc3d.jobs.study import shipped_studies
from pc3d.tasks.registry import papers

OPTION = re.compile(r"(?<!\S)--[a-z][a-z0-9.-]+")
BASH = """\
_pc3d() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="{commands}"; else
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _pc3d pc3d
"""
ZSH_FIRST = "autoload -U +X bashcompinit && bashcompinit\n"


@dataclass(frozen=True)
class Command:
    shell: tyro.conf.Positional[Literal["bash", "zsh", "fish"]]
    """Keep what is printed in a file that your shell reads: docs/training.md says which."""


def run(command: Command) -> int:
    print(script(command.shell), end="")
    return 0


def script(shell: str) -> str:
    """The whole script; options are read off each command's own help, so that none can be forgotten.

    Not tyro's, which completes options but no names, and cannot know that `train` takes two of them first.
    """
    words = {name: [*names_after(name), *options_of(name)] for name in COMMANDS}
    if shell == "fish":
        return _fish(words)
    cases = "\n".join(f'      {name}) words="{" ".join(after)}";;' for name, after in words.items())
    return (ZSH_FIRST if shell == "zsh" else "") + BASH.format(commands=" ".join(words), cases=cases)


def names_after(command: str) -> list[str]:
    """The names that may follow a command, besides its options."""
    tasks, methods = list(papers()), list(METHODS)
    return {
        "train": tasks + methods,
        "tune": tasks + methods,
        "parity": tasks,
        "study": shipped_studies(),
        "completion": ["bash", "zsh", "fish"],
    }.get(command, [])


def options_of(command: str) -> list[str]:
    with contextlib.redirect_stdout(io.StringIO()) as help_text, contextlib.suppress(SystemExit):
        main([command, "--help"])
    return sorted(set(OPTION.findall(help_text.getvalue())))


def _fish(words: dict[str, list[str]]) -> str:
    lines = ["complete -c pc3d -f"]
    for name, help_line in COMMANDS.items():
        lines.append(f"complete -c pc3d -n __fish_use_subcommand -a {name} -d '{help_line}'")
    for name, after in words.items():
        seen = f"'__fish_seen_subcommand_from {name}'"
        for word in after:
            kind = f"-l {word[2:]}" if word.startswith("--") else f"-a {word}"
            lines.append(f"complete -c pc3d -n {seen} {kind}")
    return "\n".join(lines) + "\n"
