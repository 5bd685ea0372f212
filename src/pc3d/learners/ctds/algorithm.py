"""CTDS: Q-learning with the whole team in view, and at every step a student of the values it finds."""

from dataclasses import replace
from functools import partial

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from pc3d.experiment.experiment import Experiment
from pc3d.learners.algorithm import Algorithm, Lesson
from pc3d.learners.ctds.learner import CtdsLearner, NewestRound
from pc3d.learners.ctds.settings import ctds_of
from pc3d.learners.ctds.team import ShownTeam
from pc3d.learners.experience import decisions_of, said_by, seen_in
from pc3d.learners.exploring_team import epsilon_of
from pc3d.learners.optimiser import learning_rate
from pc3d.learners.q_learning.algorithm import QLearning
from pc3d.learners.students import Examples, Student, returns_of_players, study
from pc3d.networks.build import Networks, PolicyNetworks
from pc3d.play.episode import Episode
from pc3d.play.presence import joined
from pc3d.system.errors import BadInput
from pc3d.tasks.task import Game


class Ctds(Algorithm):
    """The teacher learns as in QMIX; the student learns from the same episodes, and is what is left."""

    def __init__(self) -> None:
        self.q_learning = QLearning()

    def fresh(self, experiment: Experiment, task: Game) -> CtdsLearner:
        return CtdsLearner(
            update=jnp.zeros((), jnp.int32),
            teacher=self.q_learning.fresh(experiment, task),
            student=Student.fresh(experiment, task),
            newest=NewestRound.none(experiment.episodes_per_update),
        )

    def team(self, experiment: Experiment, learner: CtdsLearner) -> ShownTeam:
        teacher, plays = learner.teacher, student_plays(experiment, learner.update)
        epsilon = epsilon_of(experiment, teacher.update, teacher.team_steps)
        return ShownTeam(teacher.networks, learner.student.actor, plays, epsilon)

    def after_play(self, learner: CtdsLearner, episodes: Episode) -> CtdsLearner:
        teacher = self.q_learning.after_play(learner.teacher, episodes)
        return replace(learner, teacher=teacher, newest=learner.newest.of(episodes))

    def learn(
        self, experiment: Experiment, task: Game, learner: CtdsLearner, episodes: Episode, key: PRNGKeyArray
    ) -> tuple[CtdsLearner, Lesson]:
        """The teacher's gradient steps, and then one of the student on each of the same minibatches."""
        settings, update, newest = ctds_of(experiment), learner.update, learner.newest
        teacher, lesson = self.q_learning.learn(experiment, task, learner.teacher, episodes, key)
        ask = partial(examples_of, teacher.networks, roster_changes=task.roster_changes)
        numbers = jnp.arange(settings.batch_size * settings.gradient_steps)
        made = study(
            *(experiment, learner.student, ask, episodes),
            numbers.reshape(settings.gradient_steps, -1),
            learning_rate(experiment, settings.learning_rate, update),
            settings.max_gradient_norm,
        )
        players = returns_of_players(
            task, newest.total_reward, newest.team_size, student_plays(experiment, update)
        )
        students = {"loss_student": made.loss, "student_recovers": made.recovered, **players}
        return (
            CtdsLearner(update + 1, teacher, made.student, newest),
            Lesson(
                {**lesson.scalars, **students},
                lesson.finite.with_student(made.loss, made.norms, made.student.adam),
            ),
        )

    def policy(self, learner: CtdsLearner) -> PolicyNetworks:
        """The student's: nothing of what sees the team is left."""
        return PolicyNetworks(learner.student.actor, None)

    def privileged_team(self, experiment: Experiment, learner: CtdsLearner) -> ShownTeam:
        """Without exploring, as its student is scored."""
        team = self.team(experiment, learner)
        return replace(team, student_plays=jnp.asarray(False), epsilon=jnp.zeros(()))

    def check(self, experiment: Experiment, task: Game) -> None:
        self.q_learning.check(experiment, task)
        if ctds_of(experiment).stored_memory:
            raise BadInput(
                "ctds.stored_memory cannot be on: teacher and student learn from each other's episodes, and "
                "each remembers in its own way; burn in instead"
            )


def examples_of(networks: Networks, episodes: Episode, *, roster_changes: bool) -> Examples:
    """What everybody saw, and what each action is worth to it for who sees the whole team."""
    seen, present = seen_in(episodes), jnp.asarray(episodes.present)
    shown = networks.shown(seen, present)
    said = said_by(networks.actor, episodes, shown, roster_changes=roster_changes).logits
    fresh = joined(present)[:, :-1] if roster_changes else None
    return Examples(seen[:, :-1], fresh, decisions_of(episodes), said[:, :-1])


def student_plays(experiment: Experiment, update: Int[Array, ""]) -> Bool[Array, ""]:
    """Whether the student plays before this update: so often as its share says, evenly."""
    share = ctds_of(experiment).student_plays
    return jnp.floor((update + 1) * share) > jnp.floor(update * share)
