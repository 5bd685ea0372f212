"""What evaluations with lost links or another coach left in a run's folder, as numbers to work with."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from pc3d.evaluation.broadcasts import Speaking, read_speaking
from pc3d.evaluation.evaluation_file import FILES_OF_LESS_SAID, LINKS_DROPPED
from pc3d.evaluation.messages import read_losses
from pc3d.evaluation.table import MESSAGES
from pc3d.system.errors import DamagedFile

RULES = ("return_definition", "starts_seed", "rollouts")  # what must be alike to be compared
Way = float | Speaking  # how many links are lost, or when the coach speaks


@dataclass(frozen=True)
class Said:
    """What a team of one size returned, and how much each agent heard at a step."""

    returns: Float[np.ndarray, " rollout"]
    messages: float


@dataclass(frozen=True)
class LessSaid:
    """One policy, scored in some of these ways from the same starts."""

    path: Path
    asked_for: str  # the option that made it
    player: tuple[str, str, int]  # task, method, seed
    policy: str  # its digest
    rules: dict[str, Any]
    usual: Way
    """As it was trained, or without a loss."""
    ways: dict[Way, dict[int, Said]]
    """By team size."""


def read_less_said(folder: Path) -> Iterator[LessSaid]:
    """Each of the two files that lies in a run's folder, if it is still what was written."""
    for option, name in FILES_OF_LESS_SAID.items():
        path = folder / name
        if not path.exists():
            continue
        of_links = option == LINKS_DROPPED
        content = read_losses(folder) if of_links else read_speaking(folder)
        try:
            usual, ways = _of_links(content) if of_links else _of_coach(content)
            yield LessSaid(
                path=path,
                asked_for=option,
                player=(str(content["task"]), str(content["method"]), int(content["seed"])),
                policy=str(content["policy_sha256"]),
                rules={**{rule: content[rule] for rule in RULES}, "actions": content.get("actions")},
                usual=usual,
                ways=ways,
            )
        except (AttributeError, KeyError, TypeError, ValueError):
            raise DamagedFile(f"{path} is not what pc3d evaluate {option} writes") from None


def _of_links(content: dict[str, Any]) -> tuple[Way, dict[Way, dict[int, Said]]]:
    ways: dict[Way, dict[int, Said]] = {
        float(share): _by_size(one) for share, one in content["by_share"].items()
    }
    if not all(0 <= share <= 1 for share in ways if isinstance(share, float)):
        raise ValueError
    return 0.0, ways


def _of_coach(content: dict[str, Any]) -> tuple[Way, dict[Way, dict[int, Said]]]:
    ways: dict[Way, dict[int, Said]] = {
        Speaking(int(one["every"]), float(one["thrift"])): _by_size(one["by_size"])
        for one in content["scores"]
    }
    return Speaking(int(content["trained_every"])), ways


def _by_size(content: dict[str, Any]) -> dict[int, Said]:
    return {int(size): _said(one) for size, one in content.items()}


def _said(one: dict[str, Any]) -> Said:
    returns, messages = np.array(one["returns"], float), float(one[MESSAGES])
    if returns.ndim != 1 or not returns.size or not np.isfinite([*returns, messages]).all():
        raise ValueError
    return Said(returns, messages)
