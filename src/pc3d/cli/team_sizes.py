"""Team sizes as people write them: "1-4,8"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pc3d.system.errors import BadInput, shortened

if TYPE_CHECKING:
    from pc3d.tasks.task import AnyTask, Game

NUMBER = r"\d{1,9}"
LARGEST_RANGE = 1000  # no task is near it; a slip of the finger should not fill the memory


def parse_team_sizes(text: str) -> tuple[int, ...]:
    """Numbers and ranges, separated by commas, without repetitions and in order."""
    sizes: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(rf"\s*(-?{NUMBER})\s*(?:-\s*({NUMBER})\s*)?", part)
        if match is None:
            raise BadInput(f"team sizes are numbers and ranges such as 1-4,8, not {shortened(text)!r}")
        first, last = int(match[1]), int(match[2] or match[1])
        if first < 1:
            raise BadInput(f"a team has at least 1 agent, not {first}")
        if last < first or last - first > LARGEST_RANGE:
            raise BadInput(f"a range of team sizes goes from small to large, such as 1-4, not {part.strip()}")
        sizes.update(range(first, last + 1))
    return tuple(sorted(sizes))


def team_sizes_for(task: type[AnyTask] | Game, text: str | None, usual: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes written in the text, each of which the task must admit; the usual ones if there is none."""
    if text is None:
        return usual
    sizes = parse_team_sizes(text)
    for size in sizes:  # says what is wrong with the size, if anything is
        task(slots=size) if isinstance(task, type) else task.with_slots(size)
    return sizes
