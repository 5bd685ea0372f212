"""PTDE in two stages: PPO of a teacher that is told of its team, then a student of what it is told."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.experiment.experiment import Experiment
from pc3d.learners.algorithm import Algorithm, Lesson
from pc3d.learners.experience import decisions_of, seen_in
from pc3d.learners.health import Health
from pc3d.learners.optimiser import learning_rate
from pc3d.learners.ppo.algorithm import Ppo
from pc3d.learners.ppo.sequences import SequencePlan
from pc3d.learners.ptde.learner import PtdeLearner
from pc3d.learners.ptde.settings import ptde_of
from pc3d.learners.ptde.team import ToldTeam
from pc3d.learners.students import Examples, Student, returns_of_players, study
from pc3d.networks.build import Networks, PolicyNetworks
from pc3d.networks.critics import TeamView
from pc3d.networks.insight import PersonalInformation
from pc3d.play.episode import Episode
from pc3d.play.presence import joined
from pc3d.system.errors import BadInput
from pc3d.tasks.task import Game

OF_STUDENT = ("loss_student", "student_recovers")


class Ptde(Algorithm):
    """The update's number says which stage it is."""

    def __init__(self) -> None:
        self.ppo = Ppo()

    def fresh(self, experiment: Experiment, task: Game) -> PtdeLearner:
        teacher = self.ppo.fresh(experiment, task)
        return PtdeLearner(jnp.zeros((), jnp.int32), teacher, Student.fresh(experiment, task))

    def team(self, experiment: Experiment, learner: PtdeLearner) -> ToldTeam:
        plays = _student_plays(experiment, learner)
        return ToldTeam(learner.teacher.networks, learner.student.actor, plays)

    def learn(
        self,
        experiment: Experiment,
        task: Game,
        learner: PtdeLearner,
        episodes: Episode,
        key: PRNGKeyArray,
    ) -> tuple[PtdeLearner, Lesson]:
        """Let the teacher learn, and leave the student; or freeze the teacher, and let the student learn."""
        players = returns_of_players(
            task,
            jnp.asarray(episodes.total_reward),
            jnp.asarray(episodes.team_size),
            _student_plays(experiment, learner),
        )

        def teach() -> tuple[PtdeLearner, Lesson]:
            stage = _teachers_stage(experiment)
            teacher, lesson = self.ppo.learn(stage, task, learner.teacher, episodes, key)
            scalars = {**lesson.scalars, **dict.fromkeys(OF_STUDENT, _no_answer()), **players}
            return PtdeLearner(learner.update + 1, teacher, learner.student), Lesson(scalars, lesson.finite)

        def let_study() -> tuple[PtdeLearner, Lesson]:
            student, lesson = _studied(experiment, task, learner, episodes, key)
            of_teacher = dict.fromkeys(jax.eval_shape(teach)[1].scalars, _no_answer())
            scalars = {**of_teacher, **lesson.scalars, **players}
            return PtdeLearner(learner.update + 1, learner.teacher, student), Lesson(scalars, lesson.finite)

        first = ptde_of(experiment).students_from(experiment.updates)
        return jax.lax.cond(learner.update < first, teach, let_study)

    def policy(self, learner: PtdeLearner) -> PolicyNetworks:
        """The student's: nothing of what sees the team is left."""
        networks = learner.teacher.networks
        return PolicyNetworks(_insight(networks).policy(networks.actor, learner.student.actor), None)

    def privileged_team(self, experiment: Experiment, learner: PtdeLearner) -> ToldTeam:
        return replace(self.team(experiment, learner), student_plays=jnp.asarray(False))

    def check(self, experiment: Experiment, task: Game) -> None:
        self.ppo.check(experiment, task)
        first = ptde_of(experiment).students_from(experiment.updates)
        if not 0 < first < experiment.updates:
            raise BadInput(
                f"of {experiment.updates} updates, ptde.teacher_share leaves {first} to the teacher: "
                "both need some, the student to be of use and the teacher to have something to teach"
            )


def examples_of(networks: Networks, episodes: Episode, *, roster_changes: bool) -> Examples:
    """What everybody saw, and what the teacher was told at that moment, or would have been."""
    seen, present = seen_in(episodes)[:, :-1], jnp.asarray(episodes.present)
    fresh = joined(present)[:, :-1] if roster_changes else None
    features = networks.actor.over_episodes(seen, fresh)
    told = _insight(networks).information(features, TeamView(seen, present[:, :-1]))
    return Examples(seen, fresh, decisions_of(episodes), told)


def _studied(
    experiment: Experiment, task: Game, learner: PtdeLearner, episodes: Episode, key: PRNGKeyArray
) -> tuple[Student, Lesson]:
    settings = ptde_of(experiment)
    ask = partial(examples_of, learner.teacher.networks, roster_changes=task.roster_changes)
    rate = _students_rate(experiment, learner.update)
    numbers = _shuffled(key, settings.epochs, len(episodes.team_size), settings.student_batch_size)
    made = study(experiment, learner.student, ask, episodes, numbers, rate, settings.max_gradient_norm)
    finite = Health.of_drawn(
        episodes,
        target=made.recovered,
        loss=made.loss,
        gradient=made.norms,
        optimiser=(made.student.adam.mu, made.student.adam.nu),
        parameters=made.student.actor,
    )
    scalars = {
        "loss_student": made.loss,
        "student_recovers": made.recovered,
        "gradient_norm": jnp.mean(made.norms),
        "learning_rate": rate,
    }
    return made.student, Lesson(scalars, finite)


def _shuffled(key: PRNGKeyArray, epochs: int, episodes: int, most: int) -> Int[Array, "step episode"]:
    """Every episode once in each epoch, so many at most in a step."""
    steps = -(-episodes // most)
    plan = SequencePlan(episodes, 1, 1, 1, steps, -(-episodes // steps))
    numbers = jax.vmap(plan.shuffled)(jax.random.split(key, epochs))
    return numbers.reshape(epochs * steps, -1)


def _teachers_stage(experiment: Experiment) -> Experiment:
    """The teacher's stage as a run by itself: its learning rate falls to zero with it."""
    updates = max(1, ptde_of(experiment).students_from(experiment.updates))
    return replace(experiment, episodes=updates * experiment.episodes_per_update)


def _students_rate(experiment: Experiment, update: Int[Array, ""]) -> Float[Array, ""]:
    settings, first = ptde_of(experiment), ptde_of(experiment).students_from(experiment.updates)
    updates = max(1, experiment.updates - first)
    stage = replace(experiment, episodes=updates * experiment.episodes_per_update)
    return learning_rate(stage, settings.student_learning_rate, update - first)


def _student_plays(experiment: Experiment, learner: PtdeLearner) -> Bool[Array, ""]:
    return learner.update >= ptde_of(experiment).students_play_from(experiment.updates)


def _insight(networks: Networks) -> PersonalInformation:
    assert isinstance(networks.insight, PersonalInformation)
    return networks.insight


def _no_answer() -> Float[Array, ""]:
    """What metrics leave out."""
    return jnp.full((), jnp.nan, jnp.float32)
