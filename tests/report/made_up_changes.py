"""Evaluations of changing teams with made-up rewards, as `pc3d evaluate --roster` would have left them."""

import numpy as np

from pc3d.evaluation.changing.censored import CensoredTimes
from pc3d.evaluation.changing.joiners import Waiting
from pc3d.evaluation.changing.summary import mixture_of, regret_of, summary_of, summary_of_one_change
from pc3d.evaluation.changing.twins import TWINS, Twins
from pc3d.runs.run_folder import RunFolder
from pc3d.system.checked_json import write_checked

STEPS, MOMENT, AGENTS, LATER_AGENTS = 20, 8, 4, 2


def dips(lengths, low=0.0):
    """Rewards of 1, but low from the change on for so many steps; a rollout for each length."""
    steps = np.arange(STEPS)
    return np.array([np.where((steps >= MOMENT) & (steps < MOMENT + length), low, 1.0) for length in lengths])


def twins_with(changed, later=1.0, waits=None) -> Twins:
    """Half of the team leaves; without that, every step brings 2."""
    levels = {"changed": changed, "unchanged": 2.0, "later": later, "wiped": changed}
    rewards = {name: np.broadcast_to(levels[name], changed.shape).astype(float) for name in TWINS}
    sizes = np.where(np.arange(STEPS + 1) < MOMENT, AGENTS, LATER_AGENTS)
    present = np.broadcast_to(np.arange(AGENTS) < sizes[:, None], (len(changed), STEPS + 1, AGENTS))
    waiting = waits and Waiting(
        *(CensoredTimes(np.array(times), np.ones(len(times), bool)) for times in waits)
    )
    return Twins(AGENTS, rewards, present, waiting)


def shocked(lengths, **beside):
    """One change, from which each rollout needs so many steps to recover; there is 1 to gain at each."""
    twins = twins_with(dips(lengths), **beside)
    scripted = np.full((1, STEPS), 1.0)
    return {**summary_of(twins), **summary_of_one_change(twins), **regret_of(twins, scripted, 0 * scripted)}


def churned(lengths, changes, **beside):
    """So many changes, and constant teams that bring 1 at each step whatever their size."""
    twins = twins_with(dips(lengths), **beside)
    constant = {size: np.ones((1, STEPS)) for size in range(1, AGENTS + 1)}
    return {**summary_of(twins), "changes": float(changes), **mixture_of(twins, constant)}


def write_changes(run: RunFolder, roster: str, one: dict, size: int = AGENTS, **changes) -> None:
    experiment = run.experiment()
    about = {
        "format": 1,
        "task": experiment.task,
        "method": experiment.method,
        "seed": experiment.seed,
        "policy_sha256": "",
        "return_definition": "made up",
        "roster": roster,
        "process": {"kind": "shock"},
        "rules": {},
        "horizon": STEPS,
        "rollouts": 2,
        "actions": "sampled",
    }
    write_checked(run.path / f"roster-{roster}.json", {**about, "by_size": {str(size): one}, **changes})
