"""An experiment as plain data and back: what lies in experiment.json, in checkpoints and in policies.

Every form that was ever written stays readable: an older one is brought to the next, step by step.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import algorithms
from pc3d.experiment.mixes_file import mixes_from_plain, mixes_to_plain
from pc3d.experiment.ppo_settings import PpoSettings
from pc3d.experiment.roster_process import CONSTANT, process_from_plain, process_to_plain
from pc3d.experiment.world import Rules
from pc3d.system.errors import BadInput, refuse_unknown
from pc3d.system.plain import differences, from_plain, in_short
from pc3d.tasks.named_mixes import capabilities_of
from pc3d.tasks.registry import TASKS
from pc3d.tasks.spread.rules import SpreadRules

FORMAT = 2
# Written only where there is something to write: files without them are read by older versions, too.
RARE = ("origin", "lengthened_from", "roster", "mixes")
RARE_OF_WORLD = (
    *("action_low", "action_high", "masks_actions"),
    *("roster_changes", "spare_slots", "observation_parts", "about"),
)
Plain = dict[str, Any]


def to_plain(experiment: Experiment) -> Plain:
    """All of an experiment as JSON can hold it."""
    algorithm = {"name": experiment.algorithm.section, **asdict(experiment.algorithm)}
    constant = experiment.roster == CONSTANT  # as before there were others
    roster = None if constant else process_to_plain(experiment.roster)
    mixes = mixes_to_plain(experiment.mixes) if experiment.mixes else None
    by_name = {"roster": roster, "mixes": mixes, "algorithm": algorithm, "format": FORMAT}
    plain = {**asdict(experiment), **by_name}
    if plain["world"] is not None:
        plain["world"] = _without_empty(plain["world"], RARE_OF_WORLD)
    return _without_empty(plain, RARE)


def _without_empty(table: Plain, rare: tuple[str, ...]) -> Plain:
    return {name: value for name, value in table.items() if value or name not in rare}


def read_experiment(plain: Any, where: str) -> Experiment:
    """The experiment in a file, whichever version of pc3d wrote it; `where` says in an error which file."""
    plain = _upgraded(plain, where)
    algorithm = plain.get("algorithm")
    if not isinstance(algorithm, dict) or not isinstance(algorithm.get("name"), str):
        raise BadInput(f"{where} does not say which algorithm it is for")
    known = algorithms()
    refuse_unknown(f"algorithm (in {where})", algorithm["name"], known)
    task = plain.get("task")
    rules = TASKS[task].rules if isinstance(task, str) and task in TASKS else Rules
    kinds = {"algorithm": known[algorithm["name"]], "rules": rules}
    settings = {name: value for name, value in algorithm.items() if name != "name"}
    process, mixes = plain.pop("roster", process_to_plain(CONSTANT)), plain.pop("mixes", None)
    whole = {"rules": {}, **plain, "algorithm": settings}  # a file that names no rules means the usual ones
    experiment: Experiment = from_plain(Experiment, whole, where, kinds)
    experiment = replace(experiment, roster=process_from_plain(process, f"{where}: roster"))
    if mixes is None:
        return experiment
    found = mixes_from_plain(mixes, f"{where}: mixes")
    found.check(experiment.task, capabilities_of(experiment.task))
    return replace(experiment, mixes=found)


def refuse_unreadable(experiment: Experiment) -> None:
    """Refuse settings of kinds that no file gives back, as Python lets anybody make them."""
    again = read_experiment(to_plain(experiment), "the experiment")
    if changed := differences(experiment, again):
        raise BadInput(f"settings must be of the kind that they are read as: {in_short(changed)}")


def _upgraded(plain: Any, where: str) -> Plain:
    """The same in the present form, which has no number of its own any more."""
    if not isinstance(plain, dict):
        raise BadInput(f"{where} must be a table of settings")
    plain = dict(plain)
    written = from_plain(int, plain.pop("format", 1), f"{where}: format")
    if written not in (*UPGRADES, FORMAT):
        raise BadInput(
            f"{where} has settings of format {written!r}; this version of pc3d reads up to {FORMAT}"
        )
    for number in range(written, FORMAT):
        plain = UPGRADES[number](plain, where)
    return plain


def _with_algorithm_and_rules(plain: Plain, where: str) -> Plain:
    """From 1 to 2: PPO was the only algorithm, and Spread the only task with a rule to set."""
    if "algorithm" in plain or "rules" in plain:
        raise BadInput(f"{where} has settings of format {FORMAT}, but does not say that it is of that format")
    if "ppo" in plain:
        ppo = from_plain(PpoSettings, plain.pop("ppo"), f"{where}: ppo")
        plain["algorithm"] = {"name": "ppo", **asdict(ppo)}
    rules = from_plain(SpreadRules, {"collisions": plain.pop("collisions", "pairs")}, where)
    if plain.get("task") == "spread":
        plain["rules"] = asdict(rules)
    return plain


UPGRADES: dict[int, Callable[[Plain, str], Plain]] = {1: _with_algorithm_and_rules}
