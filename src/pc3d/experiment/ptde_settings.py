"""PTDE: PPO with personal information of the team, and then a student that does without."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pc3d.experiment.algorithm_settings import InsightSettings
from pc3d.experiment.ppo_settings import PpoSettings
from pc3d.experiment.ranges import Share, ShareAboveNone, Width, Widths
from pc3d.experiment.search import Between, OneOf, Tried
from pc3d.system.bounds import Range


@dataclass(frozen=True)
class PtdeSettings(PpoSettings):
    """PPO's settings and those of both stages. The paper has none; why: docs/distilled_students.md."""

    section: ClassVar[str] = "ptde"
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "learner": {"entropy": "entropy", "loss_student": "student's loss"},
        "returns": {"return_of_teacher": "teacher", "return_of_student": "student"},
    }
    # The rest is MAPPO's, and searched there.
    searched: ClassVar[Mapping[str, Tried]] = {
        "teacher_share": OneOf((0.6, 0.7, 0.8, 0.9)),
        "personal_width": OneOf((8, 16, 32)),
        "student_learning_rate": Between(1e-4, 3e-3, log=True),
    }

    teacher_share: Share = 0.8
    """Of the updates: those in which the teacher learns; the student learns in the rest."""
    teacher_plays: Share = 0.5
    """Of the student's updates: the first ones, whose episodes the teacher still plays."""
    team_encoder_widths: Widths = (96, 96)
    """Hidden widths of the encoder of everybody's observation."""
    team_encoding: Width = 48
    """Width of an encoding, whose mean over the team is g."""
    personal_width: Width = 16
    """Width of z: what each agent is told of the team."""
    student_learning_rate: ShareAboveNone = 1e-3
    """Adam's step size for the student at the start of its stage."""
    student_batch_size: Annotated[int, Range(1, 10**6)] = 8
    """Episodes that a gradient step of the student learns from."""

    @property
    def insight(self) -> InsightSettings:
        return InsightSettings(
            "personal", self.team_encoder_widths, self.team_encoding, told=self.personal_width
        )

    def students_from(self, updates: int) -> int:
        """The update, of so many, with which the student's stage begins."""
        return int(self.teacher_share * updates)

    def students_play_from(self, updates: int) -> int:
        """The update from which on the student plays."""
        first = self.students_from(updates)
        return first + int(self.teacher_plays * (updates - first))
