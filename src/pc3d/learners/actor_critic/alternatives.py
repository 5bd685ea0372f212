"""MASAC: every agent's alternatives have values, given what the others do, so that expectations are exact."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pc3d.experiment.experiment import Experiment
from pc3d.learners.actor_critic.objective import Logits, Objective
from pc3d.learners.actor_critic.sampling import sampled
from pc3d.learners.actor_critic.scene import NEXT, NOW, Scene
from pc3d.learners.targets import targets_of
from pc3d.networks.critics import Critic
from pc3d.play.choosing import of_action


class Alternatives(Objective):
    """Q_i(a | o, a_{−i}) of every agent; the others do what the learning policy now would."""

    def values(self, critic: Critic, scene: Scene) -> Float[Array, "episode time agent"]:
        return of_action(critic(scene.view(NOW, scene.taken)), jnp.asarray(scene.episodes.actions))

    def targets(
        self, experiment: Experiment, scene: Scene, logits: Logits
    ) -> Float[Array, "episode time agent"]:
        """y_i = r + γ (Σ_a π(a) min Q⁻_i(a) + α H(π)) of the moment that followed."""
        scale, chances = scene.given.scale, jax.nn.softmax(logits[:, NEXT])
        actions, there = sampled(logits, scene.noise)[:, NEXT], scene.present[:, NEXT]
        alternatives = scale.stretch(scene.given.slow.critic(scene.view(NEXT, actions)))
        # α counts in deviations of values, and targets are in the task's own scale.
        bonus = _of_the_team(_temperature(scene) * scale.deviation * entropy_of(logits[:, NEXT]), there)
        expected = _of_the_team(jnp.sum(chances * alternatives, axis=-1), there) + bonus
        of_one = partial(targets_of, experiment, scene.episodes)
        return jax.vmap(of_one, in_axes=2, out_axes=2)(expected, bonus)

    def policy_loss(
        self, experiment: Experiment, critic: Critic, scene: Scene, logits: Logits
    ) -> Float[Array, ""]:
        """Σ_a π(a) (α log π(a) − min Q_i(a)), in the critics' own scale."""
        del experiment
        now = logits[:, NOW]
        actions = jax.lax.stop_gradient(sampled(now, scene.noise[:, NOW]))
        alternatives = jax.lax.stop_gradient(critic(scene.view(NOW, actions)))
        expected = jnp.sum(jax.nn.softmax(now) * alternatives, axis=-1)
        return -scene.mean_over_agents(expected + _temperature(scene) * entropy_of(now))

    def mean(self, scene: Scene, values: Float[Array, "episode time agent"]) -> Float[Array, ""]:
        return scene.mean_over_agents(values)


def entropy_of(logits: Float[Array, "... action"]) -> Float[Array, "..."]:
    """H(π) = − Σ_a π(a) log π(a)."""
    likely = jax.nn.log_softmax(logits)
    return -jnp.sum(jnp.exp(likely) * likely, axis=-1)


def _of_the_team(
    values: Float[Array, "... agent"], present: Bool[Array, "... agent"]
) -> Float[Array, "... agent"]:
    """Whoever has left meanwhile goes on with the mean of those who are there: the reward is the team's."""
    count = jnp.maximum(jnp.sum(present, axis=-1, keepdims=True), 1)
    mean = jnp.sum(jnp.where(present, values, 0), axis=-1, keepdims=True) / count
    return jnp.where(present, values, mean)


def _temperature(scene: Scene) -> Float[Array, ""]:
    assert scene.given.temperature is not None
    return scene.given.temperature
