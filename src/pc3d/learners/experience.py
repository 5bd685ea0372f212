"""Episodes from a replay as networks see them: who had to decide what, and what actors say of it now."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Shaped

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.replayed_settings import ReplayedSettings
from pc3d.networks.actor import Actor
from pc3d.networks.conditioning import PolicyOutput
from pc3d.play.episode import Episode
from pc3d.play.presence import joined
from pc3d.system.errors import BadInput
from pc3d.tasks.task import Game


class Counts(eqx.Module):
    """What a minibatch's means are over."""

    decisions: Float[Array, ""]
    team_steps: Float[Array, ""]

    @staticmethod
    def of(episodes: Episode) -> "Counts":
        """At least 1, as nothing is divided by nothing."""
        parts = (decisions_of(episodes), episodes.played)
        return Counts(*(jnp.maximum(jnp.sum(part), 1.0) for part in parts))


def decisions_of(episodes: Episode) -> Bool[Array, "episode time agent"]:
    """The valid agent-time pairs: somebody was there and had to act."""
    return jnp.asarray(episodes.present[:, :-1] & episodes.played[:, :, None])


def seen_in(episodes: Episode) -> Float[Array, "episode moment agent observation"]:
    """What everybody saw; zero where nobody is, so that the content of padded slots cannot matter."""
    return jnp.where(episodes.present[..., None], episodes.observations, 0)


def said_by(actor: Actor, episodes: Episode, seen: Array, *, roster_changes: bool) -> PolicyOutput:
    """What the actor says at every moment, to whoever is told nothing else."""
    return actor.says(remembered_by(actor, episodes, seen, roster_changes=roster_changes))


def remembered_by(
    actor: Actor, episodes: Episode, seen: Array, *, roster_changes: bool
) -> Float[Array, "episode moment agent h"]:
    """At every moment, from nothing at the first, or from what was remembered then."""
    fresh = joined(jnp.asarray(episodes.present)) if roster_changes else None
    kept = episodes.kept or {}
    first = jnp.asarray(kept["memory"][:, 0]) if "memory" in kept else None
    return actor.over_episodes(seen, fresh, first)


def sum_of(values: Shaped[Array, "..."], real: Bool[Array, "..."]) -> Float[Array, ""]:
    """Over what is real; `where` first, so that NaN in padding stays there."""
    return jnp.sum(jnp.where(real, values, 0.0))


def refuse_hidden_ends(experiment: Experiment, task: Game) -> None:
    """A sequence that is cut from an episode does not show whether that one's time was up."""
    settings = experiment.algorithm
    assert isinstance(settings, ReplayedSettings)
    if task.horizon > settings.sequence_steps and not experiment.recipe.horizon_bootstraps:
        raise BadInput(
            f"recipe.horizon_bootstraps cannot be off with sequences of {settings.sequence_steps} steps: "
            f"{settings.section}.sequence_steps must be at least {task.horizon}"
        )


def drawn_steps(settings: ReplayedSettings, task: Game) -> int:
    """How many steps of teams an update learns from, at most."""
    return settings.replay.drawn * min(task.horizon, settings.sequence_steps)
