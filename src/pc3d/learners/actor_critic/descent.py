"""The gradient steps of an update: critics at each of them, the actor at every so many."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from pc3d.experiment.actor_critic_settings import MasacSettings
from pc3d.experiment.experiment import Experiment
from pc3d.learners.actor_critic.learner import ActorCriticLearner
from pc3d.learners.actor_critic.losses import ActorParts, CriticParts, losses
from pc3d.learners.actor_critic.scene import Drawn, Given, Scene
from pc3d.learners.actor_critic.settings import actor_critic_of
from pc3d.learners.experience import Counts
from pc3d.learners.optimiser import Left, adam, shorten
from pc3d.learners.pieces import added_up, grouped, pieces_of
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.build import Networks

Unravel = Callable[[Array], Any]
Norm = Float[Array, ""]


class Descending(eqx.Module):
    """What steps change of the actor, or of the critics."""

    parameters: Float[Array, " parameter"]
    slow: Float[Array, " parameter"]
    adam: optax.ScaleByAdamState

    @staticmethod
    def of(network: Any, slow: Any, state: optax.ScaleByAdamState) -> "Descending":
        return Descending(ravel_pytree(network)[0], ravel_pytree(slow)[0], state)

    def stepped(
        self, experiment: Experiment, gradient: Any, rate: Float[Array, ""]
    ) -> tuple["Descending", Norm]:
        """Adam's step along a gradient, whose norm is told, and the slow copy's after it."""
        settings, flat = actor_critic_of(experiment), ravel_pytree(gradient)[0]
        change, state = adam(experiment).update(shorten(flat, settings.max_gradient_norm), self.adam)
        parameters = self.parameters - rate * change
        slow = self.slow + settings.target_rate * (parameters - self.slow)
        return Descending(parameters, slow, state), jnp.linalg.norm(flat)


class Descent(eqx.Module):
    """What a gradient step changes."""

    actor: Descending
    critic: Descending
    log_temperature: Float[Array, ""] | None


class Steps(eqx.Module):
    """What an update's gradient steps looked like: means, but for the norms of all gradients."""

    critics: CriticParts
    actor: ActorParts
    critic_norms: Float[Array, " step"]
    actor_norms: Float[Array, " turn"]


def descend(
    experiment: Experiment,
    learner: ActorCriticLearner,
    scale: ValueScale,
    drawn: Drawn,
    rate: Float[Array, ""],
    *,
    left: Left,
    roster_changes: bool,
) -> tuple[ActorCriticLearner, Steps]:
    """All steps, each on its share of what was drawn."""
    settings, networks, slow = actor_critic_of(experiment), learner.networks, learner.slow
    actor_of, critic_of = (ravel_pytree(part)[1] for part in (networks.actor, networks.critic))

    def step(training: Descent, batch: Drawn, *, acts: bool) -> tuple[Descent, Any]:
        networks = Networks(actor_of(training.actor.parameters), critic_of(training.critic.parameters))
        slow = Networks(actor_of(training.actor.slow), critic_of(training.critic.slow))
        log_temperature = training.log_temperature
        temperature = None if log_temperature is None else jnp.exp(log_temperature)
        given = Given(slow, scale, temperature, roster_changes, left)
        gradient, (critics, actor) = minibatch_gradient(experiment, networks, given, batch, acts=acts)
        critic, critic_norm = training.critic.stepped(experiment, gradient.critic, rate)
        of_critics = (critics, critic_norm)
        if actor is None:
            return replace(training, critic=critic), (of_critics, None)
        stepped, actor_norm = training.actor.stepped(experiment, gradient.actor, rate)
        warmer = _warmed(experiment, log_temperature, actor.entropy, batch.noise.shape[-1])
        return Descent(stepped, critic, warmer), (of_critics, (actor, actor_norm))

    def turn(training: Descent, batches: Drawn) -> tuple[Descent, Any]:
        """Some steps of the critics alone, and one of both."""
        told, of_actor = [], None
        for number in range(1, settings.actor_every + 1):
            batch = jax.tree.map(lambda part, place=number - 1: part[place], batches)
            training, (of_critics, of_actor) = step(training, batch, acts=number == settings.actor_every)
            told.append(of_critics)
        return training, (jax.tree.map(lambda *parts: jnp.stack(parts), *told), of_actor)

    start = Descent(
        Descending.of(networks.actor, slow.actor, learner.actor_adam),
        Descending.of(networks.critic, slow.critic, learner.critic_adam),
        learner.log_temperature,
    )
    steps = grouped(drawn, settings.gradient_steps)
    turns = grouped(steps, settings.gradient_steps // settings.actor_every)
    end, ((critics, critic_norms), (actor, actor_norms)) = jax.lax.scan(turn, start, turns)
    after = replace(
        learner,
        networks=Networks(actor_of(end.actor.parameters), critic_of(end.critic.parameters)),
        slow=Networks(actor_of(end.actor.slow), critic_of(end.critic.slow)),
        actor_adam=end.actor.adam,
        critic_adam=end.critic.adam,
        log_temperature=end.log_temperature,
    )
    critic_means, actor_means = (jax.tree.map(jnp.mean, parts) for parts in (critics, actor))
    return after, Steps(critic_means, actor_means, jnp.ravel(critic_norms), actor_norms)


def minibatch_gradient(
    experiment: Experiment, networks: Networks, given: Given, batch: Drawn, *, acts: bool
) -> tuple[Networks, tuple[CriticParts, ActorParts | None]]:
    """Of a minibatch's loss, added up over pieces of it; and what it is made of."""
    counts = Counts.of(batch.episodes)

    def of_piece(piece: Drawn) -> tuple[Networks, tuple[CriticParts, ActorParts | None]]:
        scene = Scene.of(piece, counts, given)
        return jax.grad(lambda networks: losses(experiment, networks, scene, acts=acts), has_aux=True)(
            networks
        )

    return added_up(of_piece, batch, pieces_of(*batch.episodes.present.shape))


def _warmed(
    experiment: Experiment, log_temperature: Float[Array, ""] | None, entropy: Float[Array, ""], actions: int
) -> Float[Array, ""] | None:
    """log α rises while policies are surer than they should be, and falls while they are less."""
    settings = experiment.algorithm
    if not isinstance(settings, MasacSettings) or log_temperature is None:
        return None
    wanted = settings.target_entropy * jnp.log(actions)
    return log_temperature + settings.temperature_rate * (wanted - entropy)
