"""Fresh networks for an experiment: what its method's row names, in the sizes that its settings say."""

from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from pc3d.experiment.action_space import ActionSpace, Box
from pc3d.experiment.algorithm_settings import CentralKind
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import Method, method_named
from pc3d.networks.action_critics import ACTION_CRITICS, TwinCritic
from pc3d.networks.actor import Actor
from pc3d.networks.conditioning import (
    CONDITIONINGS,
    POLICY_GAIN,
    VALUE_GAIN,
    Conditioning,
    ContextConditioning,
    HeadShape,
    StudentContext,
)
from pc3d.networks.critics import CRITICS, Critic, CriticInputs
from pc3d.networks.layers import drawn_uniformly
from pc3d.networks.mixers import MIXERS
from pc3d.networks.separate_actors import SeparateActors
from pc3d.networks.squashing import Squashing
from pc3d.networks.talking_actor import TalkingActor
from pc3d.networks.teacher import Teacher
from pc3d.system.errors import BadInput, unknown_name
from pc3d.tasks.make import playable
from pc3d.tasks.task import Game

CENTRAL_KINDS: dict[CentralKind, str] = {
    "state": "a critic of observations",
    "mixer": "a mixer",
    "joint action": "a critic of joint actions",
    "alternatives": "a critic of each agent's alternatives",
}


class Networks(eqx.Module):
    """All that is trained."""

    actor: Actor
    critic: Critic


class PolicyNetworks(eqx.Module):
    """What a finished run leaves: the actor, and the averaged teacher to measure its contexts against."""

    actor: Actor
    teacher: Teacher | None


def build(key: PRNGKeyArray, experiment: Experiment, task: Game) -> Networks:
    """Fresh networks for an experiment."""
    actor_key, critic_key, head_key, student_key = jax.random.split(key, 4)
    refuse_mismatch(method_named(experiment.method))
    inputs = CriticInputs(
        observation=task.observation_width,
        features=experiment.actor.rnn_dim,
        global_state=_global_state_width(task) if experiment.critic.global_state else 0,
        largest_team=experiment.rosters.largest,
        activation=experiment.recipe.activation,
        mixing=experiment.algorithm.mixing,
        actions=task.action_count,
    )
    networks = Networks(
        actor=_actor((actor_key, head_key, student_key), experiment, task),
        critic=_central_module(critic_key, experiment, inputs),
    )
    if experiment.recipe.initialisation == "uniform":
        return drawn_uniformly(jax.random.fold_in(key, 4), networks)  # the four before are taken
    return networks


def blank_policy(experiment: Experiment, task: Game) -> PolicyNetworks:
    """The shapes of a policy without its numbers: a file could ask for more of them than there is memory."""

    def made() -> PolicyNetworks:
        networks = build(jax.random.key(0), experiment, task)
        return PolicyNetworks(networks.actor, networks.critic.held_teacher)

    return jax.eval_shape(made)


def refuse_mismatch(method: Method) -> None:
    """Say what is wrong with a row, before anything is built from it."""
    central = _central_modules()
    for kind, name, known in (
        ("critic", method.critic, central),
        ("conditioning", method.conditioning, CONDITIONINGS),
    ):
        if name not in known:
            raise unknown_name(kind, name, known)
    kind, wanted = central[method.critic].kind, method.algorithm.central
    if kind != wanted:
        raise BadInput(
            f"a method that learns by {method.algorithm.section} needs {CENTRAL_KINDS[wanted]}, "
            f"and {method.critic} is {CENTRAL_KINDS[kind]}"
        )
    teaches = central[method.critic].teaches
    learns = issubclass(CONDITIONINGS[method.conditioning], ContextConditioning)
    if method.distils and not (teaches and learns):
        raise BadInput(
            "a method that distils needs a critic with a teacher and a conditioning with a context"
        )


def _actor(
    keys: tuple[PRNGKeyArray, PRNGKeyArray, PRNGKeyArray], experiment: Experiment, task: Game
) -> Actor:
    """One for all, which may send messages, or one for each slot."""

    def made(kind: Callable[..., Actor], keys: tuple[PRNGKeyArray, PRNGKeyArray, PRNGKeyArray]) -> Actor:
        actor_key, head_key, student_key = keys
        conditioning = _conditioning(head_key, student_key, experiment, task.action_space.width)
        shape = (task.observation_width, experiment.actor, experiment.recipe.activation, conditioning)
        return kind(
            *(actor_key, *shape),
            values_actions=experiment.algorithm.values_actions,
            squashing=_squashing(experiment, task.action_space),
        )

    if experiment.algorithm.message_rounds:
        rounds = experiment.algorithm.message_rounds
        return made(partial(TalkingActor, rounds=rounds, loss=experiment.algorithm.link_loss), keys)
    if not experiment.algorithm.separate_actors:
        return made(Actor, keys)
    slots = experiment.rosters.largest
    by_slot = jax.tree.map(lambda key: jax.random.split(key, slots), keys)
    return eqx.filter_vmap(partial(made, SeparateActors))(by_slot)


def _squashing(experiment: Experiment, space: ActionSpace) -> Squashing | None:
    if not isinstance(space, Box):
        return None
    refuse_actions(experiment, space)
    return Squashing.fresh(space)


def refuse_actions(experiment: Experiment, space: ActionSpace) -> None:
    """Say it where a method cannot learn what the task's agents do."""
    ours = "take a method that learns by PPO, such as mappo or pc3d"
    if isinstance(space, Box) and not experiment.algorithm.acts_in_numbers:
        raise BadInput(
            f"{experiment.method} chooses among a few actions, and those of {experiment.task} are real "
            f"numbers: {ours}"
        )
    if isinstance(space, Box) and experiment.algorithm.separate_actors:
        raise BadInput("actors of their own for each agent choose among a few actions, not real numbers")
    if space.masked and not experiment.algorithm.heeds_masks:
        raise BadInput(f"{experiment.method} does not heed masks, and {experiment.task} has them: {ours}")


def _central_modules() -> dict[str, type[Critic]]:
    return {**CRITICS, **MIXERS, **ACTION_CRITICS}


def _central_module(key: PRNGKeyArray, experiment: Experiment, inputs: CriticInputs) -> Critic:
    kind = _central_modules()[method_named(experiment.method).critic]
    if not experiment.algorithm.twin:
        return kind(key, inputs, experiment.critic)
    first, second = (kind(one, inputs, experiment.critic) for one in jax.random.split(key))
    return TwinCritic(first, second)


def _conditioning(
    head_key: PRNGKeyArray, student_key: PRNGKeyArray, experiment: Experiment, actions: int
) -> Conditioning:
    method, features = method_named(experiment.method), experiment.actor.rnn_dim
    kind = CONDITIONINGS[method.conditioning]
    shape = HeadShape(features, actions, VALUE_GAIN if experiment.algorithm.values_actions else POLICY_GAIN)
    if not issubclass(kind, ContextConditioning):
        return kind(head_key, shape)
    context = experiment.critic.set_embed_dim
    student = StudentContext(
        student_key, features, context, method.gate, experiment.distillation, experiment.recipe
    )
    return kind(head_key, shape, student)


def _global_state_width(game: Game) -> int:
    task = playable(game)
    state = jax.eval_shape(lambda: task.global_state(task.reset(jax.random.key(0), task.slots)))
    return int(state.size)
