"""Context recovery and use: is the teacher's context recovered from local history, and does it matter?"""

from copy import copy
from typing import Any

import equinox as eqx
import jax
import numpy as np

from pc3d.evaluation.recording import ContextUse, Recording
from pc3d.experiment.methods import GateMode
from pc3d.networks.actor import Actor
from pc3d.networks.conditioning import ContextConditioning
from pc3d.networks.context_health import Measures, attention_health, recovery
from pc3d.play.actor_team import ActorTeam
from pc3d.play.arena import Arena
from pc3d.play.scores import score
from pc3d.runs.policy import Policy


def context_summary(policy: Policy, arena: Arena, recording: Recording, *, greedy: bool) -> dict[str, Any]:
    """What one cell of the paper's figure shows, and returns with the gate forced off and on.

    All means are over the decisions made: agents that were there, steps before the end.
    """
    assert recording.context is not None
    size, rollouts = recording.team_size, len(recording.returns)
    decisions: Any = recording.decisions
    use: ContextUse = jax.tree.map(lambda values: np.asarray(values, float), recording.context)
    steps = int(recording.played.any(axis=0).sum())  # as far as any of the episodes went
    by_step = np.mean(use.alignment[:, :steps], axis=(0, 2), where=decisions[:, :steps])
    forced = {
        f"return_gate_{mode}": score(arena, ActorTeam(with_gate(policy.actor, mode), greedy), size, rollouts)
        for mode in ("off", "on")
    }
    return {
        "split": policy.experiment.rosters.split_of(size),
        **_answered(recovery(use.student, use.teacher, decisions)),
        **_answered(attention_health(use.reading, decisions)),
        "alignment_by_step": [round(float(value), 4) for value in by_step],
        "gate_mean": float(np.mean(use.gate, where=decisions)),
        "gate_deviation": float(np.mean(np.std(use.gate, axis=(1, 2), where=decisions))),
        "return": float(np.mean(recording.returns)),
        **{name: float(np.mean(scores.returns)) for name, scores in forced.items()},
    }


def _answered(measures: Measures) -> dict[str, float | None]:
    """As JSON has them: None for what has no answer."""
    return {name: None if np.isnan(value) else float(value) for name, value in measures.items()}


def with_gate(actor: Actor, mode: GateMode) -> Actor:
    """The same trained numbers with the gate in another mode, whatever conditioning uses it."""
    assert isinstance(actor.conditioning, ContextConditioning)
    student = copy(actor.conditioning.student)
    # The mode is static, so tree_at cannot reach it; and the constructor would draw new numbers.
    object.__setattr__(student, "mode", mode)
    return eqx.tree_at(lambda actor: actor.conditioning.student, actor, student)
