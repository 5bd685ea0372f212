"""MIPI-style: policies that pay for what they tell of teammates, against a reference that cannot see them."""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from pc3d.experiment.experiment import Experiment
from pc3d.learners.algorithm import Algorithm, Lesson
from pc3d.learners.exploring_team import ExploringTeam, epsilon_of
from pc3d.learners.mipi.fitting import fitted
from pc3d.learners.mipi.imagined_teams import imagined
from pc3d.learners.mipi.learner import MipiLearner
from pc3d.learners.mipi.settings import mipi_of
from pc3d.learners.q_learning.algorithm import QLearning
from pc3d.learners.q_learning.soft_policy import Reference
from pc3d.learners.students import Student
from pc3d.networks.actor import Actor
from pc3d.networks.build import PolicyNetworks, build_reference
from pc3d.networks.reference import blinded, soft_actor
from pc3d.play.episode import Episode
from pc3d.play.randomness import Purpose, stream
from pc3d.system.errors import BadInput
from pc3d.tasks.split import Split, without_split
from pc3d.tasks.task import Game


class Mipi(Algorithm):
    """Values learn with the reference as it is; the next reference learns from the policy, and takes over."""

    def __init__(self) -> None:
        self.q_learning = QLearning()

    def fresh(self, experiment: Experiment, task: Game) -> MipiLearner:
        key = stream(experiment.seed, Purpose.INITIALISE)
        reference = blinded(build_reference(key, experiment, task), _split_of(task))
        return MipiLearner(
            update=jnp.zeros((), jnp.int32),
            values=self.q_learning.fresh(experiment, task),
            reference=reference,
            next_reference=Student.of(experiment, reference),
            cost=jnp.asarray(mipi_of(experiment).information_cost, jnp.float32),
        )

    def team(self, experiment: Experiment, learner: MipiLearner) -> ExploringTeam:
        """Everybody draws from the soft policy, or now and then does anything, as in QMIX."""
        epsilon = epsilon_of(experiment, learner.values.update, learner.values.team_steps)
        return ExploringTeam(self.policy(learner).actor, epsilon)

    def after_play(self, learner: MipiLearner, episodes: Episode) -> MipiLearner:
        return replace(learner, values=self.q_learning.after_play(learner.values, episodes))

    def learn(
        self, experiment: Experiment, task: Game, learner: MipiLearner, episodes: Episode, key: PRNGKeyArray
    ) -> tuple[MipiLearner, Lesson]:
        """Steps of values, then as many of the next reference on the same minibatches."""
        settings, reference = mipi_of(experiment), Reference(learner.reference, learner.cost)
        values, lesson = self.q_learning.learn(experiment, task, learner.values, episodes, key, reference)
        drawn = imagined(key, episodes, len(_split_of(task).places), settings.imagined_teams)
        policy = (values.networks.actor, reference)
        next_one, loss, norms = fitted(
            experiment, task, learner.next_reference, policy, drawn, learner.update
        )
        scalars = {
            **lesson.scalars,
            "loss_reference": loss,
            "information_cost": learner.cost * _deviation(experiment, learner),
        }
        finite = lesson.finite.with_student(loss, norms, next_one.adam)
        turned = _turned(learner, next_one.actor, settings.reference_updates)
        after = MipiLearner(learner.update + 1, values, turned, next_one, learner.cost)
        return after, Lesson(scalars, finite)

    def policy(self, learner: MipiLearner) -> PolicyNetworks:
        """Utilities and the reference as one actor: own history, and nothing central."""
        utilities = learner.values.networks.actor
        return PolicyNetworks(soft_actor(learner.reference, utilities, learner.cost), None)

    def check(self, experiment: Experiment, task: Game) -> None:
        self.q_learning.check(experiment, task)
        if task.split is None:
            raise BadInput(without_split(task.name))
        if mipi_of(experiment).stored_memory:
            raise BadInput(
                "mipi.stored_memory cannot be on: utilities and the reference remember each in its own way, "
                "and references change; burn in instead"
            )


def _turned(learner: MipiLearner, next_one: Actor, updates: int) -> Actor:
    """The reference for the next updates: after so many of them, the one that learned meanwhile."""
    turns = (learner.update + 1) % updates == 0
    return jax.tree.map(lambda new, old: jnp.where(turns, new, old), next_one, learner.reference)


def _deviation(experiment: Experiment, learner: MipiLearner) -> Array:
    """Of the team's value, in the task's own scale."""
    normalises = experiment.recipe.normalise_values
    return learner.values.value_scale.deviation if normalises else jnp.ones(())


def _split_of(task: Game) -> Split:
    assert task.split is not None, "checked before anything was trained"
    return task.split
