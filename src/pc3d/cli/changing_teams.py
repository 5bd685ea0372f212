"""`pc3d evaluate RUN --roster NAME`: what it prints of teams that change while they play."""

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

ONCE = ("team", "return", "unchanged", "later", "wiped", "dip", "recovered", "median", "regret")
OFTEN = ("team", "present", "changes", "return", "unchanged", "wiped", "constant", "cost")
JOINING = ("joiner", "incumbent")
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
    console.print(_table(str(path), changing, found))
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


def _table(title: str, changing: Changing, found: dict[int, dict[str, Any]]) -> Table:
    row = _once if changing.once else _often
    headings: tuple[str, ...] = ONCE if changing.once else OFTEN
    rows = [row(size, one) for size, one in found.items()]
    if any(one["first_contribution"] for one in found.values()):
        headings += JOINING
        rows = [(*row, *_joining(one)) for row, one in zip(rows, found.values(), strict=True)]
    return table(f"{title}, roster {changing.label}", headings, rows, words=0, narrow=True)


def _once(size: int, one: dict[str, Any]) -> tuple[str, ...]:
    recovery, regret = one["recovery"], one.get("regret")
    return (
        f"{size} → {one['after']}",
        *(_mean(one["returns"][name]) for name in (CHANGED, UNCHANGED, LATER, WIPED)),
        f"{one['depth']:.3f}",
        f"{100 * recovery['share']:.0f} %",
        _median(recovery),
        "–" if regret is None else f"{regret:.3f}",
    )


def _often(size: int, one: dict[str, Any]) -> tuple[str, ...]:
    returns = one["returns"]
    return (
        str(size),
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
