"""`pc3d evaluate RUN --roster NAME`: what it prints of teams that change while they play."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from pc3d.cli.display import counted, table
from pc3d.cli.own_task import with_horizon
from pc3d.cli.team_sizes import team_sizes_for
from pc3d.evaluation.changing.run import Changing, evaluate_changes, fitting_sizes
from pc3d.evaluation.changing.twins import CHANGED, LATER, UNCHANGED, WIPED
from pc3d.evaluation.run import EvaluationSettings
from pc3d.experiment.named_rosters import ALL, SETS, roster_label, roster_named, rosters_in
from pc3d.experiment.roster_process import CONSTANT
from pc3d.experiment.world import Rules
from pc3d.play.arena import CompiledArena
from pc3d.runs.policy import Policy, load_policy
from pc3d.system.errors import BadInput
from pc3d.tasks.make import make_task, playable

ONCE = ("team", "return", "unchanged", "later", "wiped", "dip")
RECOVERY = ("recovered", "median", "regret")
OFTEN = ("team", "present", "changes", "return", "unchanged", "wiped", "constant", "cost")
JOINING = ("joiner", "incumbent")
WORDS_OF_ONCE = (
    "unchanged: if nobody had left or joined; later: those who are there at the end from the start; wiped: "
    "everybody forgets everything at the change; dip: the deepest mean of a window of the reward beside "
    "unchanged."
)
WORDS_OF_RECOVERY = (
    "recovered, median: how many rollouts are back at the level of later, and half of them after so many "
    "steps; regret: what is missing to later, as a share of what the scripted player has over the random one."
)
WORDS_OF_OFTEN = (
    "present: agents there on average; changes: how many in an episode; unchanged: if nobody had left or "
    "joined; wiped: everybody forgets everything at a change; constant: what constant teams of the same "
    "sizes bring; cost: that minus the return."
)
WORDS_OF_JOINING = (
    "joiner, incumbent: steps until half of the newcomers, and of those who were there, contribute."
)
Part = tuple[tuple[str, ...], str, Callable[[dict[str, Any]], tuple[str, ...]]]  # columns, meanings, texts
DECIMALS_BELOW = 10  # LBF's returns are shares of 1


def rosters_asked_for(text: str, settings: EvaluationSettings, reference_rollouts: int) -> list[Changing]:
    """One roster or all of a set, if teams change by them and our own worlds can play them."""
    names = rosters_in(text) or (text,)
    processes = {roster_label(name): roster_named(name, (*SETS, ALL)) for name in names}
    if CONSTANT in processes.values():
        raise BadInput("with a constant roster nothing changes: leave --roster away")
    if settings.world is not None or settings.original:
        raise BadInput("teams change in our own worlds of the usual size: give neither --world nor --backend")
    if reference_rollouts < 0:
        raise BadInput(f"the reference rollouts are at least 0, not {reference_rollouts}")
    return [Changing(label, process, reference_rollouts) for label, process in processes.items()]


def evaluate_one(
    path: Path,
    target: Path,
    changing: Changing,
    settings: EvaluationSettings,
    team_sizes: str | None,
    rules: dict[str, Any],
    *,
    alone: bool,
) -> None:
    """Play one policy's twins, write what they say, and print it; of a set, not every size need fit."""
    policy = load_policy(path)
    playable(policy.task)
    policy = replace(policy, experiment=replace(policy.experiment, rules=_rules(policy, rules)))
    arena = CompiledArena(make_task(policy.experiment))
    usual = policy.experiment.rosters.all
    sizes = team_sizes_for(arena.game, team_sizes, usual)
    fitting = fitting_sizes(policy, arena, changing, sizes, named=alone and team_sizes is not None)
    with counted(f"{path}, {changing.label}", len(fitting)) as advance:
        found = evaluate_changes(policy, arena, changing, fitting, settings, target, advance)
    console = Console()
    _show(console, f"{path}, roster {changing.label}", changing, found)
    passed = sorted(set(sizes) - set(fitting))
    if passed:
        console.print(f"nothing changes, or too much would, with {', '.join(map(str, passed))} agents")
    console.print(f"wrote {target / changing.file}", soft_wrap=True)


def _rules(policy: Policy, changed: dict[str, Any]) -> Rules:
    """The rules of the policy's training with what was asked to be different."""
    rules, task = policy.experiment.rules, policy.experiment.task
    for name, value in changed.items():
        if name == "horizon":
            rules = with_horizon(replace(policy.experiment, rules=rules), value)
        elif hasattr(rules, name):
            rules = replace(rules, **{name: value})
        else:
            raise BadInput(f"{task} has no rule called {name}: leave --{name} away")
    return rules


def _show(console: Console, title: str, changing: Changing, found: dict[int, dict[str, Any]]) -> None:
    """What the change did; below it, as terminals are narrow, who recovers and who contributes when."""
    headings, words, row = (ONCE, WORDS_OF_ONCE, _once) if changing.once else (OFTEN, WORDS_OF_OFTEN, _often)
    console.print(_table(title, headings, (row(size, one) for size, one in found.items())))
    console.print(words, style="dim", highlight=False)
    parts: list[Part] = [(RECOVERY, WORDS_OF_RECOVERY, _recovery)] if changing.once else []
    if any(one["first_contribution"] for one in found.values()):
        parts.append((JOINING, WORDS_OF_JOINING, _joining))
    if parts:
        rows = (
            (_team(size, one), *(text for _, _, texts in parts for text in texts(one)))
            for size, one in found.items()
        )
        console.print(_table("", ("team", *(name for names, _, _ in parts for name in names)), rows))
        for _, words, _ in parts:
            console.print(words, style="dim", highlight=False)


def _table(title: str, headings: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    return table(title, headings, rows, words=0, narrow=True)


def _team(size: int, one: dict[str, Any]) -> str:
    """Where there is one change, before and after it."""
    return f"{size} → {one['after']}" if "after" in one else str(size)


def _once(size: int, one: dict[str, Any]) -> tuple[str, ...]:
    means = (_mean(one["returns"][name]) for name in (CHANGED, UNCHANGED, LATER, WIPED))
    return _team(size, one), *means, f"{one['depth']:.3f}"


def _recovery(one: dict[str, Any]) -> tuple[str, ...]:
    recovery, regret = one["recovery"], one.get("regret")
    missing = "–" if regret is None else f"{regret:.3f}"
    return f"{100 * recovery['share']:.0f} %", _median(recovery), missing


def _often(size: int, one: dict[str, Any]) -> tuple[str, ...]:
    returns = one["returns"]
    return (
        _team(size, one),
        f"{one['mean_present']:.2f}",
        f"{one['changes']:.2f}",
        *(_mean(returns[name]) for name in (CHANGED, UNCHANGED, WIPED)),
        _mean(one["mixture"]),
        f"{one['cost']:.4f}",
    )


def _joining(one: dict[str, Any]) -> tuple[str, ...]:
    waiting = one["first_contribution"]
    return tuple(_median(waiting[name]) if waiting else "–" for name in ("joiners", "incumbents"))


def _median(times: dict[str, Any]) -> str:
    return "–" if times["median"] is None else f"{times['median']:.0f}"


def _mean(values: list[float]) -> str:
    mean = float(np.mean(values))
    return f"{mean:.2f}" if abs(mean) >= DECIMALS_BELOW else f"{mean:.4f}"
