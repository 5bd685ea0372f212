"""PPO with a central critic, and with PC3D's distillation where a method has it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, PRNGKeyArray

from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import method_named
from pc3d.experiment.roster_process import CONSTANT
from pc3d.learners.algorithm import Algorithm, Lesson, Work
from pc3d.learners.distillation import flat_attention, left_to_fade
from pc3d.learners.health import Health, all_finite
from pc3d.learners.optimiser import fresh_adam, learning_rate
from pc3d.learners.ppo.arithmetic import operations
from pc3d.learners.ppo.descent import Course, Descended, Descent, descend
from pc3d.learners.ppo.learner import PpoLearner
from pc3d.learners.ppo.losses import LossParts
from pc3d.learners.ppo.preparation import prepare
from pc3d.learners.ppo.sequences import SequencePlan
from pc3d.learners.ppo.settings import ppo_of
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.build import PolicyNetworks, build
from pc3d.networks.context_health import recovered
from pc3d.play.episode import Episode
from pc3d.play.randomness import Purpose, stream
from pc3d.play.talking_team import team_of
from pc3d.play.team import Team
from pc3d.system.errors import BadInput
from pc3d.tasks.entities import without_entities
from pc3d.tasks.task import Game

LOSS_TERMS = ("total", "policy", "value", "distillation")


class Ppo(Algorithm):
    """The paper's backbone; HAPPO is the same with another way down."""

    def __init__(self, descend: Callable[[Course, Descent], Descended] = descend) -> None:
        self.descend = descend

    def fresh(self, experiment: Experiment, task: Game) -> PpoLearner:
        networks = build(stream(experiment.seed, Purpose.INITIALISE), experiment, task)
        return PpoLearner(
            update=jnp.zeros((), jnp.int32),
            networks=networks,
            averaged_teacher=networks.critic.held_teacher,
            adam=fresh_adam(experiment, networks),
            value_scale=ValueScale.fresh(),
        )

    def team(self, experiment: Experiment, learner: PpoLearner) -> Team:
        del experiment
        return team_of(learner.networks.actor, keeps=True)

    def learn(
        self,
        experiment: Experiment,
        task: Game,
        learner: PpoLearner,
        episodes: Episode,
        key: PRNGKeyArray,
    ) -> tuple[PpoLearner, Lesson]:
        """Value the episodes, cut them into sequences, and take the epochs' gradient steps."""
        plan = SequencePlan.make(experiment, *episodes.rewards.shape)
        prepared = prepare(experiment, task, learner, episodes, plan)
        rate = learning_rate(experiment, ppo_of(experiment).learning_rate, learner.update)
        # One vector of parameters: a few large kernels instead of many small ones, and half the compile time.
        parameters, unravel = ravel_pytree(learner.networks)
        start = Descent(parameters, learner.averaged_teacher, learner.adam)
        left = left_to_fade(experiment, learner.update)
        made = self.descend(Course(experiment, unravel, plan, prepared.sequences, rate, key, left), start)
        end, losses, norms = made.end, made.losses, made.norms
        finite = Health(
            observations=all_finite(jnp.where(episodes.present[..., None], episodes.observations, 0)),
            rewards=all_finite(episodes.rewards),
            values=all_finite(prepared.sequences.values),
            loss=jnp.isfinite(losses.total),
            gradient=all_finite(norms),
            optimiser=all_finite(end.adam.mu) & all_finite(end.adam.nu),
            parameters=all_finite(end.parameters),
        )
        done, networks = learner.update + 1, unravel(end.parameters)
        learner = PpoLearner(done, networks, end.averaged_teacher, end.adam, prepared.scale)
        students = {} if prepared.standard is None else recovered(losses.students, prepared.standard)
        scalars = {**_scalars(losses), "gradient_norm": jnp.mean(norms), "learning_rate": rate}
        return learner, Lesson({**scalars, **made.measures, **students, **prepared.health}, finite)

    def policy(self, learner: PpoLearner) -> PolicyNetworks:
        return PolicyNetworks(learner.networks.actor, learner.averaged_teacher)

    def begun_with(self, learner: PpoLearner, policy: PolicyNetworks) -> PpoLearner:
        """Actor and teacher are taken over; value head, optimiser and the scale of values begin anew."""
        networks = eqx.tree_at(lambda all_of_it: all_of_it.actor, learner.networks, policy.actor)
        if policy.teacher is not None:
            networks = eqx.tree_at(lambda all_of_it: all_of_it.critic.held_teacher, networks, policy.teacher)
        return replace(learner, networks=networks, averaged_teacher=policy.teacher)

    def check(self, experiment: Experiment, task: Game) -> None:
        """What an environment plays between two updates must fit into its buffer."""
        ppo = ppo_of(experiment)
        steps = ppo.update_every_episodes * task.horizon
        if steps > ppo.buffer_size:
            raise BadInput(
                f"{ppo.section}.buffer_size must be at least {steps}: each environment plays "
                f"{ppo.update_every_episodes} episodes of {task.horizon} steps between two updates, "
                f"not {ppo.buffer_size}"
            )
        if ppo.separate_actors:
            _check_separate(experiment)
        if ppo.message_rounds:
            _check_messages(experiment, task)

    def concern(self, line: Mapping[str, Any]) -> str | None:
        return flat_attention(line)

    def work(
        self, experiment: Experiment, task: Game, learner: PpoLearner, team_sizes: np.ndarray
    ) -> Work | None:
        ppo = ppo_of(experiment)
        if ppo.separate_actors:
            return None
        agent_steps = ppo.passes_of_agents * task.horizon * float(team_sizes.sum())
        team_steps = ppo.passes_of_teams * task.horizon * len(team_sizes)
        return Work(operations(learner.networks, agent_steps, team_steps), agent_steps)


def _check_separate(experiment: Experiment) -> None:
    """An actor for each slot has none for another team size, nor for who comes later."""
    where = f"{experiment.algorithm.section}.parameters separate"
    if len(experiment.rosters.all) > 1 or experiment.roster != CONSTANT:
        raise BadInput(f"{where} is for teams of one size that stay as they are, as --specialist 3 has them")
    if method_named(experiment.method).has_context:
        raise BadInput(f"{where} is for methods without a context: {experiment.method} shares its parameters")


def _check_messages(experiment: Experiment, task: Game) -> None:
    """Messages come from those in sight: somebody has to say who that is."""
    where = f"{experiment.method} sends messages to those who see the sender"
    if not task.has_entities:
        raise BadInput(f"{where}, and {without_entities(task.name)}")
    if experiment.backend == "original":
        raise BadInput(f"{where}, which the original packages do not tell: leave --backend original away")


def _scalars(losses: LossParts) -> dict[str, Array]:
    """What metrics call these numbers."""
    parts = {name: value for name, value in vars(losses).items() if name != "students"}
    square = parts.pop("gate_square")
    named = {f"loss_{name}" if name in LOSS_TERMS else name: value for name, value in parts.items()}
    return {**named, "gate_deviation": jnp.sqrt(jnp.maximum(square - losses.gate**2, 0))}
