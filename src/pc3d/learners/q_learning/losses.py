"""The objective: the squared error of the team's value + λ_distill distillation."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Shaped

from pc3d.experiment.copa_settings import CopaSettings
from pc3d.experiment.entity_settings import RefilSettings
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.sog_settings import SogSettings
from pc3d.learners.distillation import distance_from_teacher, weight_of
from pc3d.learners.experience import Counts, decisions_of, remembered_by, seen_in, sum_of
from pc3d.learners.optimiser import Left
from pc3d.learners.q_learning import conducting
from pc3d.learners.q_learning.chance import NOTHING, Chance
from pc3d.learners.q_learning.coaching import Held, held_to, says, told_in
from pc3d.learners.q_learning.conducting import heard_in
from pc3d.learners.q_learning.imagination import imagined_values
from pc3d.learners.q_learning.soft_policy import Reference, SoftPolicy
from pc3d.learners.targets import targets_of
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.build import Networks
from pc3d.networks.conducted_actor import ConductedActor
from pc3d.networks.critics import Critic, TeamView
from pc3d.play.choosing import of_action, only_allowed
from pc3d.play.episode import Episode


class LossParts(eqx.Module):
    """The terms of the objective and what is worth watching beside them: what a piece adds to each mean."""

    total: Float[Array, ""]
    value: Float[Array, ""]  # the loss, on the networks' own scale
    distillation: Float[Array, ""]
    gate: Float[Array, ""]
    gate_square: Float[Array, ""]
    said: Float[Array, ""]  # the team's value; as all below in the task's scale
    off: Float[Array, ""]
    target: Float[Array, ""]
    target_square: Float[Array, ""]
    named: dict[str, Float[Array, ""]]  # what some methods have besides, by its name in metrics


class Given(eqx.Module):
    """What a gradient step takes as it is."""

    slow: Networks
    scale: ValueScale
    roster_changes: bool = eqx.field(static=True)
    reference: Reference | None = None
    """What policies may leave at a cost; None where everybody takes its best action."""
    left: Left = 1.0
    """Of the run."""


def objective(
    experiment: Experiment,
    networks: Networks,
    given: Given,
    episodes: Episode,
    counts: Counts,
    chance: Chance = NOTHING,
) -> LossParts:
    """What some episodes add to the loss of their minibatch.

    Means are over steps of teams; of contexts and gates over valid agent-time pairs.
    """
    seen, scale, decisions = seen_in(episodes), given.scale, decisions_of(episodes)
    shown = networks.shown(seen, jnp.asarray(episodes.present))
    features = remembered_by(networks.actor, episodes, shown, roster_changes=given.roster_changes)
    told = told_in(networks, episodes, chance, roster_changes=given.roster_changes)
    heard = heard_in(networks.actor, episodes) if told is None else told.message
    now = says(networks.actor, features, heard)
    taken = of_action(now.logits[:, :-1], episodes.actions)
    values = _team_values(networks.critic, episodes, seen, taken, slice(None, -1))
    soft = _soft_policy(given, episodes, seen, now.logits)
    targets = _targets(experiment, given, episodes, seen, now.logits, chance, soft)
    valued = scale.stretch(jax.lax.stop_gradient(values))

    def mean(parts: Shaped[Array, "..."]) -> Float[Array, ""]:
        return sum_of(parts, episodes.played) / counts.team_steps

    def of_agents(parts: Shaped[Array, "..."]) -> Float[Array, ""]:
        return sum_of(parts, decisions) / counts.decisions

    value_loss = mean((values - scale.shrink(targets)) ** 2)
    teacher, present = given.slow.critic.held_teacher, jnp.asarray(episodes.present[:, :-1])
    distillation = of_agents(distance_from_teacher(experiment, now, teacher, seen, present))
    gates = jnp.zeros(decisions.shape) if now.gate is None else jax.lax.stop_gradient(now.gate[:, :-1])
    own_loss, named = value_loss, dict[str, Array]()
    if chance.groups is not None:
        thought = imagined_values(
            networks, episodes, seen, chance.groups, heard, roster_changes=given.roster_changes
        )
        imagined = mean((thought - scale.shrink(targets)) ** 2)
        own_loss, named = _with_imagined(experiment, value_loss, imagined)
    if told is not None:
        held = jax.tree.map(of_agents, held_to(networks, episodes, features, told, now.logits.shape[-1]))
        own_loss, named = _with_coach(experiment, value_loss, held)
    if soft is not None:
        told_of = {"information": soft.information, "entropy": soft.entropy}
        named = {name: of_agents(nats[:, :-1]) for name, nats in told_of.items()}
    if isinstance(networks.actor, ConductedActor):
        assert chance.noise is not None
        messages = conducting.held_to(networks.actor, episodes, seen, features, chance.noise)
        grouped = of_agents(jnp.asarray(episodes.kept["grouped"]))
        own_loss, more = _with_messages(experiment, own_loss, jax.tree.map(of_agents, messages))
        named = {**named, **more, "grouped": grouped}
    return LossParts(
        total=own_loss + weight_of(experiment, given.left) * distillation,
        value=value_loss,
        distillation=distillation,
        gate=of_agents(gates),
        gate_square=of_agents(gates**2),
        said=mean(valued),
        off=mean(jnp.abs(valued - targets)),
        target=mean(targets),
        target_square=mean(targets**2),
        named=named,
    )


def _with_imagined(experiment: Experiment, value: Array, imagined: Array) -> tuple[Array, dict[str, Array]]:
    """REFIL: (1 − λ) of the one loss and λ of the other; and what metrics call it."""
    settings = experiment.algorithm
    assert isinstance(settings, RefilSettings)
    share = settings.imagination
    return (1 - share) * value + share * imagined, {"loss_imagined": imagined}


def _with_coach(experiment: Experiment, value: Array, held: Held) -> tuple[Array, dict[str, Array]]:
    """COPA: words that can be recognised in what is done, and are not always the same."""
    settings = experiment.algorithm
    assert isinstance(settings, CopaSettings)
    loss = value + settings.recognition_weight * held.surprise - settings.entropy_weight * held.entropy
    return loss, {
        "loss_recognition": held.surprise,
        "broadcast_entropy": held.entropy,
        "broadcast_moved": held.moved,
    }


def _soft_policy(given: Given, episodes: Episode, seen: Array, online: Array) -> SoftPolicy | None:
    """Of the learning network, at every moment; a constant for the gradient."""
    if given.reference is None:
        return None
    changes = given.roster_changes
    return jax.lax.stop_gradient(given.reference.policy(episodes, seen, online, roster_changes=changes))


def _with_messages(
    experiment: Experiment, loss: Array, held: conducting.Messages
) -> tuple[Array, dict[str, Array]]:
    """SOG: messages of which the next ones can tell, and that are no others'."""
    settings = experiment.algorithm
    assert isinstance(settings, SogSettings)
    more = settings.foresight_weight * held.foresight + settings.contrast_weight * held.contrast
    return loss + more, {"loss_foresight": held.foresight, "loss_contrast": held.contrast}


def _team_values(
    mixer: Critic, episodes: Episode, seen: Array, utilities: Array, moments: slice
) -> Float[Array, "episode time"]:
    """Q_tot of some moments, from everybody's utilities at them."""
    states = None if episodes.global_states is None else episodes.global_states[:, moments]
    present = jnp.asarray(episodes.present[:, moments])
    return mixer(TeamView(seen[:, moments], present, None, states, utilities=utilities))


def _targets(
    experiment: Experiment,
    given: Given,
    episodes: Episode,
    seen: Array,
    online: Float[Array, "episode moment agent action"],
    chance: Chance,
    soft: SoftPolicy | None,
) -> Float[Array, "episode time"]:
    """In the task's own scale, whichever the networks have; constants for the gradient."""
    shown, changes = given.slow.shown(seen, jnp.asarray(episodes.present)), given.roster_changes
    features = remembered_by(given.slow.actor, episodes, shown, roster_changes=changes)
    told = told_in(given.slow, episodes, chance, roster_changes=changes)
    heard = heard_in(given.slow.actor, episodes) if told is None else told.message
    later = says(given.slow.actor, features, heard).logits
    allowed = None if episodes.allowed is None else episodes.allowed[:, 1:]
    if soft is None:
        utilities = double_q(only_allowed(online[:, 1:], allowed), later[:, 1:])
    else:
        utilities = soft.expected(later)[:, 1:]
    values = given.scale.stretch(_team_values(given.slow.critic, episodes, seen, utilities, slice(1, None)))
    costs = None if soft is None else _costs(given, episodes, soft)
    return jax.lax.stop_gradient(
        targets_of(experiment, episodes, values if costs is None else values + costs, costs)
    )


def _costs(given: Given, episodes: Episode, soft: SoftPolicy) -> Float[Array, "episode time"]:
    """−(α / n) Σ_i KL(π_i ‖ p_i) of the moment after each step, in the task's own scale, as targets are."""
    assert given.reference is not None
    there = jnp.asarray(episodes.present[:, 1:])
    nats = jnp.sum(jnp.where(there, soft.information[:, 1:], 0), axis=-1)
    each = given.reference.cost * given.scale.deviation
    return -each * nats / jnp.maximum(jnp.sum(there, axis=-1), 1)


def double_q(online: Float[Array, "... action"], slow: Float[Array, "... action"]) -> Float[Array, "..."]:
    """What the slow copy thinks of the action that the learning network would take."""
    return of_action(slow, jnp.argmax(online, axis=-1))
