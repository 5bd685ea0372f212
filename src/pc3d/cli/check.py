"""`pc3d check my_package.my_task:make`: can it be trained on, and if not, what exactly is wrong?"""

from dataclasses import dataclass
from typing import Annotated

import tyro

from pc3d.cli.display import Terminal, facts
from pc3d.cli.in_help import Sizes
from pc3d.cli.own_task import look_at, sizes_to_try
from pc3d.cli.team_sizes import parse_team_sizes
from pc3d.play.hosted.crew import DEFAULT_HOSTING, Hosting
from pc3d.system.errors import BadInput


@dataclass(frozen=True)
class Command:
    task: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="MODULE:NAME")]
    """Where the task is, as module:name; the name of a function make(team_size), or of a Task class."""
    team_sizes: Sizes = None
    """The sizes to try, such as 2-6,8; if not given, 1-8, or those of them that a JAX task admits."""
    horizon: int | None = None
    """The time limit, if the environment has none of its own."""
    env_timeout: float = DEFAULT_HOSTING.env_timeout
    """Seconds after which a world that does not answer counts as hanging."""


def run(command: Command) -> int:
    task, hosting = command.task, Hosting(env_timeout=command.env_timeout)
    sizes = sizes_to_try(task) if command.team_sizes is None else parse_team_sizes(command.team_sizes)
    found = look_at(task, sizes, command.horizon, hosting)
    console = Terminal()
    if found.world:
        rows = [
            ("observation", " × ".join(map(str, found.world.observation_shape))),
            ("actions", found.world.action_space.words),
            ("steps per episode", f"{found.world.horizon} at most"),
            ("return", found.world.return_definition),
        ]
        console.print(facts(task, rows))
    notes = [f"note: {note}" for note in found.notes]
    problems = [f"problem: {problem}" for problem in found.problems]
    verdict = "is fine" if found.world else f"cannot be trained on yet: {len(found.problems)} problem(s)"
    tried = command.team_sizes or "-".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
    for line in (*notes, *problems, f"{task} {verdict} with team sizes {tried}"):
        console.print(line, soft_wrap=True, markup=False)
    return 0 if found.world else BadInput.exit_code
