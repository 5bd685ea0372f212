"""Mixes as people ask for them: by a name, by a file, or as amounts of kinds."""

from dataclasses import replace
from pathlib import Path
from typing import cast

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.kinds import USUAL, Capability, Kind
from pc3d.experiment.mixes import NO_MIXES, SEEN, Mix, Mixes, Seen
from pc3d.experiment.mixes_file import mix_of, read_mixes
from pc3d.system.errors import BadInput, refuse_unknown, unknown_name
from pc3d.tasks.registry import TASKS

SUFFIX = ".toml"
SHIPPED = "unlike"  # every task's own set of kinds and mixes
ALL = "all"


def mixes_named(text: str, task: str) -> Mixes:
    """The mixes to train with: the task's own, those of a file, or one, as in runner=2,hauler=1."""
    if text.endswith(SUFFIX):
        mixes = read_mixes(Path(text))
    elif text == SHIPPED:
        mixes = _own_mixes(task)
    elif "=" in text:
        mixes = Mixes(train=(_written(text, _kinds(_own_mixes(task))),), seen="visible")
    else:
        raise unknown_name("set of mixes", text, (SHIPPED, "runner=2,hauler=1", f"your own FILE{SUFFIX}"))
    mixes.check(task, capabilities_of(task))
    return mixes


def with_mixes(experiment: Experiment, text: str | None, seen: str | None) -> Experiment:
    """The experiment with the mixes that a person names, and with what agents see of capabilities."""
    if seen is not None:
        refuse_unknown("view of capabilities", seen, SEEN)
    if text is None and not experiment.mixes:
        if seen is None:
            return experiment
        check_capabilities(experiment.task)
    mixes = experiment.mixes if text is None else mixes_named(text, experiment.task)
    return replace(experiment, mixes=mixes if seen is None else replace(mixes, seen=cast(Seen, seen)))


def mixes_to_play(text: str, experiment: Experiment) -> tuple[Mix, ...]:
    """The mixes that a policy is to be scored with; one that is sealed for it is refused."""
    task, own = experiment.task, experiment.mixes
    shipped = _own_mixes(task)
    if text in (ALL, SHIPPED):
        found = shipped.all if text == SHIPPED or not (own or _sealed(experiment)) else own.all
    elif text.endswith(SUFFIX):
        found = mixes_named(text, task).all
    elif "=" in text:
        found = (_written(text, _kinds(shipped) | _kinds(own)),)
    else:
        by_name = {mix.name: mix for mix in (*shipped.all, *own.all)}
        refuse_unknown("mix", text, (ALL, *by_name, f"your own FILE{SUFFIX}"))
        found = (by_name[text],)
    for mix in found:
        _refuse_sealed(mix, experiment)
    if not found:
        raise BadInput("this policy was trained to try something out, with the usual agents alone")
    return found


def capabilities_of(task: str) -> tuple[Capability, ...]:
    """What agents of a task may differ in; nothing is known of tasks that do not come with pc3d."""
    return TASKS[task].capabilities if task in TASKS else ()


def check_capabilities(task: str) -> None:
    """Refuse a task whose agents are all alike."""
    USUAL.check(task, capabilities_of(task))


def _own_mixes(task: str) -> Mixes:
    check_capabilities(task)
    file = TASKS[task].mixes
    return NO_MIXES if file is None else read_mixes(file)


def _kinds(mixes: Mixes) -> dict[str, Kind]:
    return {kind.name: kind for kind in (USUAL, *mixes.kinds)}


def _written(text: str, kinds: dict[str, Kind]) -> Mix:
    """A mix from words such as runner=2,hauler=1; it is called after them."""
    amounts: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (word.strip() for word in part.partition("="))
        try:
            amount = float(number)
        except ValueError:
            raise BadInput(f"a mix is written as runner=2,hauler=1, not {text!r}") from None
        if name in amounts:
            raise BadInput(f"the mix {text!r} names {name} twice")
        amounts[name] = amount
    label = "-".join(f"{name}-{amount:g}".replace(".", "") for name, amount in amounts.items())
    return mix_of(label[:40], amounts, kinds)


def _sealed(experiment: Experiment) -> bool:
    return experiment.rosters.sealed_largest > 0


def _refuse_sealed(mix: Mix, experiment: Experiment) -> None:
    """While something is tried out, only what it may be chosen by is played."""
    if _sealed(experiment) and experiment.mixes.split_of(mix) == "other":
        allowed = ", ".join(one.name for one in experiment.mixes.all) or "the usual agents"
        raise BadInput(
            f"the mix {mix.name} is sealed: this policy was trained to try something out, with {allowed} "
            "alone; train one with the same settings that is not sealed"
        )
