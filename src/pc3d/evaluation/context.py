"""Context recovery and use: is the teacher's context recovered from local history, and does it matter?"""

from __future__ import annotations

from copy import copy
from typing import Any

import equinox as eqx
import numpy as np

from pc3d.evaluation.recording import Recording, cosine
from pc3d.evaluation.recovery import recovery
from pc3d.evaluation.scores import score
from pc3d.hosted.crew import Crew
from pc3d.networks.actor import Actor
from pc3d.networks.conditioning import ContextConditioning, GateMode
from pc3d.policy import Policy
from pc3d.tasks.task import Game


def context_summary(
    policy: Policy, task: Game, recording: Recording, *, greedy: bool, crew: Crew | None = None
) -> dict[str, Any]:
    """What one cell of the paper's figure shows, and returns with the gate forced off and on.

    All means are over the decisions made: agents that were there, steps before the end.
    """
    assert recording.context is not None
    size, rollouts = recording.team_size, len(recording.returns)
    gate, student, teacher = (
        np.asarray(values, float)[:, :, :size]
        for values in (recording.context.gate, recording.context.student, recording.context.teacher)
    )
    decisions = np.broadcast_to(recording.played[:, :, None], gate.shape)
    steps = int(recording.played.any(axis=0).sum())  # as far as any of the episodes went
    alignment = cosine(student[:, :steps], teacher[:, :steps])
    by_step = np.mean(alignment, axis=(0, 2), where=decisions[:, :steps])
    forced = {
        mode: score(task, with_gate(policy.actor, mode), size, rollouts, greedy=greedy, crew=crew)
        for mode in ("off", "on")
    }
    return {
        "split": policy.experiment.rosters.split_of(size),
        **recovery(student, teacher, decisions),
        "alignment_by_step": [round(float(value), 4) for value in by_step],
        "gate_mean": float(np.mean(gate, where=decisions)),
        "gate_deviation": float(np.mean(np.std(gate, axis=(1, 2), where=decisions))),
        "return": float(np.mean(recording.returns)),
        "return_gate_off": float(np.mean(forced["off"].returns)),
        "return_gate_on": float(np.mean(forced["on"].returns)),
    }


def with_gate(actor: Actor, mode: GateMode) -> Actor:
    """The same trained numbers with the gate in another mode, whatever conditioning uses it."""
    assert isinstance(actor.conditioning, ContextConditioning)
    student = copy(actor.conditioning.student)
    # The mode is static, so tree_at cannot reach it; and the constructor would draw new numbers.
    object.__setattr__(student, "mode", mode)
    return eqx.tree_at(lambda actor: actor.conditioning.student, actor, student)
