"""How soon contexts follow a change: what stayers and newcomers make of theirs, step by step since then."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from pc3d.evaluation.changing.recovery import since
from pc3d.evaluation.changing.twins import Twins
from pc3d.evaluation.recording import context_use
from pc3d.networks.build import PolicyNetworks
from pc3d.play.arena import Arena, played
from pc3d.play.episode import Episode
from pc3d.play.rota import Rota
from pc3d.play.starts import rollout_keys
from pc3d.play.talking_team import team_of
from pc3d.tasks.task import Game

ByAgent = Float[np.ndarray, "rollout time agent"]


def context_lag(
    arena: Arena, networks: PolicyNetworks, twins: Twins, rollouts: int, *, greedy: bool
) -> dict[str, Any] | None:
    """Alignment with the teacher and openness of the gate since the change; None without a teacher."""
    if networks.teacher is None:
        return None
    rollouts = min(rollouts, len(twins.present))
    present, keys = twins.present[:rollouts], rollout_keys(twins.team_size, rollouts)
    sizes = np.full(rollouts, twins.team_size, np.int32)
    team, rota = team_of(networks.actor, greedy=greedy), Rota.of(jnp.asarray(present))
    use = played(arena, team, keys, sizes, _use, networks, rota)
    if use is None:
        return None
    moments, groups = twins.first_changes[:rollouts], _groups(present, twins.first_changes[:rollouts])
    return {
        group: {
            "alignment": _by_step(use.alignment, members, moments),
            "gate": _by_step(np.asarray(use.gate), members, moments),
        }
        for group, members in groups.items()
    }


def _use(game: Game, episodes: Episode, networks: PolicyNetworks) -> Any:
    return context_use(game, networks, episodes)


def _groups(
    present: Bool[np.ndarray, "rollout moment agent"], moments: Int[np.ndarray, " rollout"]
) -> dict[str, Bool[np.ndarray, "rollout agent"]]:
    """Who was there before the change and after it, and who has come with it."""
    rollouts = np.arange(len(moments))
    before, after = present[rollouts, moments - 1], present[rollouts, moments]
    return {"stayers": before & after, "newcomers": after & ~before}


def _by_step(
    values: ByAgent, members: Bool[np.ndarray, "rollout agent"], moments: Int[np.ndarray, " rollout"]
) -> list[float]:
    """The mean over members at each step since the change, as far as all rollouts go."""
    if not members.any():
        return []
    by_agent = np.stack([since(values[:, :, agent], moments) for agent in range(values.shape[2])], axis=2)
    last = values.shape[1] - int(moments.max())
    counted = members[:, None, :] & np.ones((1, last, 1), bool)
    means = np.mean(by_agent[:, :last], axis=(0, 2), where=counted)
    return [round(float(mean), 6) for mean in means]
