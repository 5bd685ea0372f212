"""The loss: the critics' squared errors, what the actor lowers, and λ_distill distillation."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pc3d.experiment.algorithm_settings import CentralKind
from pc3d.experiment.experiment import Experiment
from pc3d.learners.actor_critic.alternatives import Alternatives, entropy_of
from pc3d.learners.actor_critic.joint_action import JointAction
from pc3d.learners.actor_critic.objective import Objective
from pc3d.learners.actor_critic.scene import NOW, Scene
from pc3d.learners.distillation import distance_from_teacher, weight_of
from pc3d.learners.experience import said_by
from pc3d.networks.action_critics import each_of
from pc3d.networks.build import Networks
from pc3d.networks.conditioning import PolicyOutput

OBJECTIVES: dict[CentralKind, Objective] = {"joint action": JointAction(), "alternatives": Alternatives()}


class CriticParts(eqx.Module):
    """What a piece adds to the means of a step: of the critics."""

    value: Float[Array, ""]  # the loss, of all critics, on the networks' own scale
    said: Float[Array, ""]  # by the first; as all below in the task's scale
    off: Float[Array, ""]
    target: Float[Array, ""]
    target_square: Float[Array, ""]


class ActorParts(eqx.Module):
    """The same of the actor, in steps that it takes."""

    policy: Float[Array, ""]
    entropy: Float[Array, ""]
    distillation: Float[Array, ""]
    gate: Float[Array, ""]
    gate_square: Float[Array, ""]


def losses(
    experiment: Experiment, networks: Networks, scene: Scene, *, acts: bool
) -> tuple[Float[Array, ""], tuple[CriticParts, ActorParts | None]]:
    """What some episodes add to the loss of their minibatch: of the critics, and if it `acts` of the actor.

    No gradient passes between them: critics are fixed for the policy, and what it does is for them.
    """
    objective, given = OBJECTIVES[experiment.algorithm.central], scene.given
    now = said_by(networks.actor, scene.episodes, scene.seen, roster_changes=given.roster_changes)
    logits = jax.lax.stop_gradient(now.logits)
    targets = jax.lax.stop_gradient(objective.targets(experiment, scene, logits))
    of_critics = _of_critics(objective, networks, scene, targets)
    if not acts:
        return of_critics.value, (of_critics, None)
    frozen = jax.lax.stop_gradient(networks.critic)
    policy = objective.policy_loss(experiment, frozen, scene, now.logits)
    of_actor = _of_actor(experiment, policy, now, scene)
    total = of_critics.value + policy + weight_of(experiment, given.left) * of_actor.distillation
    return total, (of_critics, of_actor)


def _of_critics(
    objective: Objective, networks: Networks, scene: Scene, targets: Float[Array, "..."]
) -> CriticParts:
    scale = scene.given.scale
    values = [objective.values(critic, scene) for critic in each_of(networks.critic)]
    wanted, told = scale.shrink(targets), scale.stretch(jax.lax.stop_gradient(values[0]))
    errors = [objective.mean(scene, (each - wanted) ** 2) for each in values]
    return CriticParts(
        value=jnp.sum(jnp.stack(errors)),
        said=objective.mean(scene, told),
        off=objective.mean(scene, jnp.abs(told - targets)),
        target=objective.mean(scene, targets),
        target_square=objective.mean(scene, targets**2),
    )


def _of_actor(
    experiment: Experiment, policy: Float[Array, ""], now: PolicyOutput, scene: Scene
) -> ActorParts:
    present, teacher = scene.present[:, NOW], scene.given.slow.critic.held_teacher
    apart = distance_from_teacher(experiment, now, teacher, scene.seen, present)
    gates = jnp.zeros(present.shape) if now.gate is None else jax.lax.stop_gradient(now.gate[:, NOW])
    return ActorParts(
        policy=policy,
        entropy=scene.mean_over_agents(entropy_of(jax.lax.stop_gradient(now.logits[:, NOW]))),
        distillation=scene.mean_over_agents(apart),
        gate=scene.mean_over_agents(gates),
        gate_square=scene.mean_over_agents(gates**2),
    )
