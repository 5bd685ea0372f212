"""What an exported file says about itself: all that someone without this package has to know."""

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from pc3d.export.plain_actor import PlainActor
from pc3d.presets.experiment_file import to_plain
from pc3d.runs.policy import Policy
from pc3d.system.files import LARGEST_DIGESTED, digest_of, read_bytes


def describe(policy: Policy, actor: PlainActor) -> dict[str, Any]:
    """The same for every kind of file; int8 files add what was measured."""
    experiment, task, rosters = policy.experiment, policy.task, policy.experiment.rosters
    return {
        "kind": "deployed actor",
        "pc3d_version": version("pc3d"),
        "policy_sha256": digest_of(read_bytes(policy.path, LARGEST_DIGESTED)),
        "task": experiment.task,
        "method": experiment.method,
        "seed": experiment.seed,
        "training_episodes": experiment.episodes,
        "team_sizes": {"train": rosters.train, "validation": rosters.validation, "test": rosters.test},
        "return_definition": task.return_definition,
        "steps_per_episode": task.horizon,
        "observation": [asdict(part) for part in task.layout],
        "actions": list(task.action_space.names),
        "action_space": {"kind": task.action_space.kind, **asdict(task.action_space)},
        "choosing": _choosing(actor),
        "memory": {"width": actor.memory_width, "start": "zeros at the start of every episode"},
        "network": asdict(actor.network),
        **_messages(actor),
        "precision": "float32",
        "experiment": to_plain(experiment),
    }


def _choosing(actor: PlainActor) -> str:
    if actor.network.box is not None:
        return "give standard normal noise for a draw as in training, or zeros for the middle"
    if actor.network.greedy:
        return "take the action whose probability is 1: the one worth most"
    return "draw the action from action_probabilities, as in training"


def _messages(actor: PlainActor) -> dict[str, Any]:
    if actor.network.rounds is None:
        return {}
    return {
        "messages": {
            "rounds": actor.network.rounds,
            "width": actor.memory_width,
            "batch": "one team: a row for each of its agents",
            "links": "true where the row's agent sees the column's, and for itself",
        }
    }
