"""Fresh networks for an experiment: what its method's row names, in the sizes that its settings say."""

from functools import partial
from typing import TypeVar, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from pc3d.experiment.action_space import ActionSpace, Box
from pc3d.experiment.algorithm_settings import CentralKind
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import GateMode, Method, method_named
from pc3d.networks.action_critics import ACTION_CRITICS, TwinCritic
from pc3d.networks.actor import Actor
from pc3d.networks.coach import CoachMixer
from pc3d.networks.coached_actor import CoachedActor, with_coach
from pc3d.networks.conditioning import (
    CONDITIONINGS,
    POLICY_GAIN,
    VALUE_GAIN,
    Conditioning,
    ContextConditioning,
    HeadShape,
    PlainHead,
    PolicyOutput,
    StudentContext,
)
from pc3d.networks.conducted_actor import ConductedActor
from pc3d.networks.critics import CRITICS, Critic, CriticInputs, TeamView
from pc3d.networks.entity_attention import EntityInputs
from pc3d.networks.entity_mixer import EntityMixer
from pc3d.networks.insight import Insight, PersonalInformation, TeamAttention
from pc3d.networks.layers import drawn_uniformly
from pc3d.networks.mixers import MIXERS
from pc3d.networks.reference import soft_actor
from pc3d.networks.separate_actors import SeparateActors
from pc3d.networks.squashing import Squashing
from pc3d.networks.talking_actor import TalkingActor
from pc3d.networks.teacher import Teacher
from pc3d.system.errors import BadInput, unknown_name
from pc3d.tasks.make import playable
from pc3d.tasks.task import Game, entity_features

CENTRAL_KINDS: dict[CentralKind, str] = {
    "state": "a critic of observations",
    "mixer": "a mixer",
    "joint action": "a critic of joint actions",
    "alternatives": "a critic of each agent's alternatives",
}


# The four before are taken.
UNIFORM_KEY, INSIGHT_KEY, STUDENT_KEY, REFERENCE_KEY = 4, 5, 6, 7
Network = TypeVar("Network")


class Networks(eqx.Module):
    """All that is trained; a student's actor is trained by itself."""

    actor: Actor
    critic: Critic
    insight: Insight | None = None
    """What the actor is told of its team while it learns."""

    def says(self, features: Float[Array, "... feature"], view: TeamView) -> PolicyOutput:
        """What to do, from what is remembered, and from what is told of the team where something is."""
        if self.insight is not None:
            features = self.insight.beside_features(features, view)
        return self.actor.says(features)

    def shown(
        self, seen: Float[Array, "... agent observation"], present: Bool[Array, "... agent"]
    ) -> Float[Array, "... agent shown"]:
        """What the actor sees: its own observation, and what is told of the team where something is."""
        return seen if self.insight is None else self.insight.beside_observations(seen, present)

    @property
    def acting(self) -> Actor:
        """The actor as it plays: with its coach, if it has one."""
        if isinstance(self.actor, CoachedActor) and isinstance(self.critic, CoachMixer):
            return with_coach(self.actor, self.critic.coach)
        return self.actor


class PolicyNetworks(eqx.Module):
    """What a finished run leaves: the actor, and the averaged teacher to measure its contexts against."""

    actor: Actor
    teacher: Teacher | None


def build(key: PRNGKeyArray, experiment: Experiment, task: Game) -> Networks:
    """Fresh networks for an experiment."""
    actor_key, critic_key, head_key, student_key = jax.random.split(key, 4)
    refuse_mismatch(method_named(experiment.method))
    if experiment.algorithm.entities:
        task = task.shown_by_entity()
    inputs = CriticInputs(
        observation=task.observation_width,
        features=experiment.actor.rnn_dim,
        global_state=_global_state_width(task) if experiment.critic.global_state else 0,
        largest_team=experiment.most_agents,
        activation=experiment.recipe.activation,
        mixing=experiment.algorithm.mixing,
        actions=task.action_count,
        entities=_entity_inputs(experiment, task),
        coach=experiment.algorithm.coach,
    )
    networks = Networks(
        actor=_actor((actor_key, head_key, student_key), experiment, task),
        critic=_central_module(critic_key, experiment, inputs),
        insight=_insight(jax.random.fold_in(key, INSIGHT_KEY), experiment, inputs),
    )
    return _drawn(jax.random.fold_in(key, UNIFORM_KEY), experiment, networks)


def build_student(key: PRNGKeyArray, experiment: Experiment, task: Game) -> Actor:
    """A fresh student: the same layers, and a head that says what the actor is told, or what it says."""
    insight = experiment.algorithm.insight
    assert insight is not None, "a student learns to do without something"
    actor_key, head_key, uniform_key = jax.random.split(jax.random.fold_in(key, STUDENT_KEY), 3)
    said = insight.beside_features or task.action_space.width
    head = PlainHead(head_key, HeadShape(experiment.actor.rnn_dim, said, VALUE_GAIN))
    shape = (task.observation_width, experiment.actor, experiment.recipe.activation, head)
    student = Actor(actor_key, *shape, values_actions=experiment.algorithm.values_actions)
    return _drawn(uniform_key, experiment, student)


def build_reference(key: PRNGKeyArray, experiment: Experiment, task: Game) -> Actor:
    """What says how likely an agent does what, of the actor's sizes; nearly anything at first."""
    actor_key, head_key, uniform_key = jax.random.split(jax.random.fold_in(key, REFERENCE_KEY), 3)
    head = PlainHead(head_key, HeadShape(experiment.actor.rnn_dim, task.action_space.width))
    actor = Actor(actor_key, task.observation_width, experiment.actor, experiment.recipe.activation, head)
    return _drawn(uniform_key, experiment, actor)


def blank_policy(experiment: Experiment, task: Game) -> PolicyNetworks:
    """The shapes of a policy without its numbers: a file could ask for more of them than there is memory."""

    def made() -> PolicyNetworks:
        key = jax.random.key(0)
        networks, cost = build(key, experiment, task), experiment.algorithm.cost_of_information
        if cost is not None:
            reference = build_reference(key, experiment, task)
            return PolicyNetworks(soft_actor(reference, networks.actor, jnp.asarray(cost)), None)
        if networks.insight is None:
            return PolicyNetworks(networks.acting, networks.critic.held_teacher)
        return PolicyNetworks(
            networks.insight.policy(networks.actor, build_student(key, experiment, task)), None
        )

    return jax.eval_shape(made)


def refuse_mismatch(method: Method) -> None:
    """Say what is wrong with a row, before anything is built from it."""
    central = _central_modules()
    for kind, name, known in (
        ("critic", method.critic, central),
        ("conditioning", method.conditioning, CONDITIONINGS),
        ("gate", method.gate, get_args(GateMode)),
    ):
        if name not in known:
            raise unknown_name(kind, str(name), known)
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
    """One for all, which may send messages or have a coach, or one for each slot."""
    entities = _entity_inputs(experiment, task)

    def made(kind: type[Actor], keys: tuple[PRNGKeyArray, PRNGKeyArray, PRNGKeyArray]) -> Actor:
        actor_key, head_key, student_key = keys
        conditioning = _conditioning(head_key, student_key, experiment, task.action_space.width)
        insight = experiment.algorithm.insight
        observation = task.observation_width + (insight.beside_observation if insight else 0)
        shape = (observation, experiment.actor, experiment.recipe.activation, conditioning)
        return kind(
            *(actor_key, *shape),
            values_actions=experiment.algorithm.values_actions,
            squashing=_squashing(experiment, task.action_space),
            entities=entities,
        )

    if experiment.algorithm.message_rounds:
        rounds, loss = experiment.algorithm.message_rounds, experiment.algorithm.link_loss
        return TalkingActor(jax.random.fold_in(keys[0], 2), made(Actor, keys), rounds, loss)  # two are taken
    if experiment.algorithm.conducting:
        return ConductedActor(
            jax.random.fold_in(keys[0], 2), made(Actor, keys), experiment.algorithm.conducting
        )
    if experiment.algorithm.coach:
        return CoachedActor(jax.random.fold_in(keys[0], 2), made(Actor, keys), experiment.algorithm.coach)
    if not experiment.algorithm.separate_actors:
        return made(Actor, keys)
    slots = experiment.most_agents
    by_slot = jax.tree.map(lambda key: jax.random.split(key, slots), keys)
    return eqx.filter_vmap(partial(made, SeparateActors))(by_slot)


def _entity_inputs(experiment: Experiment, task: Game) -> EntityInputs | None:
    settings = experiment.algorithm.entities
    if settings is None:
        return None
    return EntityInputs(entity_features(playable(task)), settings.width, settings.heads)


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
    return {**CRITICS, **MIXERS, **ACTION_CRITICS, "entity-mixer": EntityMixer, "coach-mixer": CoachMixer}


def _central_module(key: PRNGKeyArray, experiment: Experiment, inputs: CriticInputs) -> Critic:
    kind = _central_modules()[experiment.algorithm.central_module or method_named(experiment.method).critic]
    if not experiment.algorithm.twin:
        return kind(key, inputs, experiment.critic)
    first, second = (kind(one, inputs, experiment.critic) for one in jax.random.split(key))
    return TwinCritic(first, second)


def _insight(key: PRNGKeyArray, experiment: Experiment, inputs: CriticInputs) -> Insight | None:
    settings = experiment.algorithm.insight
    if settings is None:
        return None
    if settings.kind == "attention":
        return TeamAttention(key, inputs.observation, inputs.activation, settings)
    return PersonalInformation(key, inputs.observation, inputs.features, inputs.activation, settings)


def _drawn(key: PRNGKeyArray, experiment: Experiment, fresh: Network) -> Network:
    """As the recipe says."""
    return drawn_uniformly(key, fresh) if experiment.recipe.initialisation == "uniform" else fresh


def _conditioning(
    head_key: PRNGKeyArray, student_key: PRNGKeyArray, experiment: Experiment, actions: int
) -> Conditioning:
    method, features = method_named(experiment.method), experiment.actor.rnn_dim
    kind, insight = CONDITIONINGS[method.conditioning], experiment.algorithm.insight
    told = insight.beside_features if insight else 0
    gain = VALUE_GAIN if experiment.algorithm.values_actions else POLICY_GAIN
    shape = HeadShape(features + told, actions, gain)
    if not issubclass(kind, ContextConditioning):
        return kind(head_key, shape)
    context = experiment.critic.set_embed_dim
    own = experiment.actor.context_rnn_dim
    student = StudentContext(
        student_key, own or features, context, method.gate, experiment.distillation, experiment.recipe, bool(own)
    )
    return kind(head_key, shape, student)


def _global_state_width(game: Game) -> int:
    task = playable(game)
    state = jax.eval_shape(lambda: task.global_state(task.reset(jax.random.key(0), task.slots)))
    return int(state.size)
