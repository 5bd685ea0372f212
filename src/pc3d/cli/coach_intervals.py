"""`pc3d evaluate RUN --coach-every 1,4,16,never`: what a team is worth if its coach speaks less often."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pc3d.cli.display import Terminal, counted
from pc3d.cli.score_tables import returns_table
from pc3d.cli.team_sizes import team_sizes_for
from pc3d.evaluation.broadcasts import FILE, Speaking, coached_actor, evaluate_speaking
from pc3d.evaluation.run import EvaluationSettings, about_policy
from pc3d.experiment.copa_settings import NEVER
from pc3d.runs.policy import load_policy
from pc3d.system.errors import BadInput, shortened
from pc3d.tasks.make import playable

Number = TypeVar("Number", int, float)


def intervals_of(text: str) -> tuple[int, ...]:
    """Steps from 1 up, or never, separated by commas, each once."""
    found = _numbers(text, lambda part: NEVER if part.strip() == "never" else int(part) or -1)
    if not all(0 <= steps <= 10**4 for steps in found) or not found:
        raise BadInput(
            f"--coach-every takes steps from 1 up, or never, such as 1,4,16,never, not {shortened(text)!r}"
        )
    return found


def distances_of(text: str) -> tuple[float, ...]:
    """Numbers from 0 up, separated by commas, each once."""
    found = _numbers(text, float)
    if not all(0 <= distance < math.inf for distance in found) or not found:
        raise BadInput(f"--coach-thrift takes distances from 0 up, such as 0,2,5, not {shortened(text)!r}")
    return found


def _numbers(text: str, read: Callable[[str], Number]) -> tuple[Number, ...]:
    try:
        return tuple(dict.fromkeys(read(part) for part in text.split(",")))
    except ValueError:
        return ()


def evaluate_intervals(
    path: Path,
    target: Path,
    texts: tuple[str | None, str | None],
    settings: EvaluationSettings,
    team_sizes: str | None,
) -> None:
    """Play one policy with each interval and each distance, write what it brings, and print it."""
    policy, (every, thrift) = load_policy(path), texts
    actor = coached_actor(policy)  # says so before anything is played,
    playable(policy.task)  # and so does this
    intervals = (actor.every,) if every is None else intervals_of(every)
    distances = (0.0,) if thrift is None else distances_of(thrift)
    ways = tuple(dict.fromkeys(Speaking(*way) for way in _pairs(intervals, distances)))
    rosters = policy.experiment.rosters
    sizes = team_sizes_for(policy.task, team_sizes, rosters.all)
    with counted(f"{path}, coach", len(ways) * len(sizes)) as advance:
        found = evaluate_speaking(
            *(policy, ways, sizes, settings.rollouts),
            about=about_policy(policy, policy.task),
            folder=target,
            advance=advance,
        )
    console = Terminal()
    console.print(str(path), soft_wrap=True, highlight=False)
    console.print(returns_table({str(way): returns for way, returns in found.items()}, rosters))
    console.print(f"wrote {target / FILE}", soft_wrap=True, highlight=False)


def _pairs(intervals: tuple[int, ...], distances: tuple[float, ...]) -> list[tuple[int, float]]:
    """Where nothing is said, nothing can be spared."""
    return [(steps, 0.0 if steps == NEVER else distance) for steps in intervals for distance in distances]
