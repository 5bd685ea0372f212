"""An episode as a small JSON document that a page can play: positions in integers, one entry per moment."""

from typing import Any

import numpy as np

from pc3d.evaluation.recording import Recording
from pc3d.networks.teacher import Reading
from pc3d.runs.policy import Policy
from pc3d.tasks.registry import TASKS, entry_of
from pc3d.tasks.replay_numbers import scaled

FORMAT = 1


def has_replays(task: str) -> bool:
    """Whether the page's viewer can show a task; own tasks are filmed instead."""
    return task in TASKS and TASKS[task].replay is not None


def replay(policy: Policy, episode: Recording, rollout: int) -> dict[str, Any]:
    """The document of one episode (a recording without an episode axis)."""
    experiment, size, use = policy.experiment, episode.team_size, episode.context
    world = entry_of(experiment.task).replay
    assert world is not None, "asked for only where there is one"
    changing = {} if np.all(episode.present) else {"present": scaled(episode.present, 1)}
    return {
        "format": FORMAT,
        "task": experiment.task,
        "method": experiment.method,
        "seed": experiment.seed,
        "team_size": size,
        "split": experiment.rosters.split_of(size),
        "rollout": rollout,
        "return": float(episode.returns),
        "reward": [round(float(reward), 3) for reward in episode.rewards],
        "gate": None if use is None else scaled(use.gate, 100),
        "alignment": None if use is None else scaled(use.alignment, 100),
        "attention": None if use is None else _attention(use.reading),
        **changing,  # who is there at each moment, where that is not everybody always
        "world": world.load()(policy.task.with_slots(size), episode.states, episode.present.shape[-1]),
    }


def _attention(reading: Reading) -> dict[str, Any]:
    """In percent: what each token took from every agent, and what each agent took of every token."""
    return {name: scaled(getattr(reading, name), 100) for name in ("over_agents", "over_tokens")}
