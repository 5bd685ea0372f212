"""CTDS: Q-learning of a teacher that sees its whole team, and a student that follows it all the while."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from pc3d.experiment.algorithm_settings import InsightSettings
from pc3d.experiment.q_learning_settings import QLearningSettings
from pc3d.experiment.ranges import Share, Width, Widths
from pc3d.experiment.search import OneOf, Tried


@dataclass(frozen=True)
class CtdsSettings(QLearningSettings):
    """Q-learning's settings and those of the student. The paper has none; why: docs/distilled_students.md."""

    section: ClassVar[str] = "ctds"
    headlines: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "learner": {
            "epsilon": "ε",
            "value": "value",
            "value_error": "error",
            "loss_student": "student's loss",
        },
        "returns": {"return_of_teacher": "teacher", "return_of_student": "student"},
    }
    # The rest is PIC-QMIX's, and searched there.
    searched: ClassVar[Mapping[str, Tried]] = {"student_plays": OneOf((0.0, 0.1, 0.25, 0.5))}

    mixer: Literal["mean-utility", "joint-mixer", "mean-mixer"] = "mean-mixer"
    """What mixes the teacher's utilities, by its name in `networks.mixers`: as VDN, QMIX or PIC-QMIX do."""
    student_plays: Share = 0.1
    """Of the updates: those whose episodes the student plays, spread evenly; the original has none."""
    team_encoder_widths: Widths = (96, 96)
    """Hidden widths of the encoder of everybody's observation."""
    team_encoding: Width = 48
    """Width of an encoding, and of what attention makes of the team's."""

    @property
    def insight(self) -> InsightSettings:
        return InsightSettings(
            "attention", self.team_encoder_widths, self.team_encoding, told=self.team_encoding
        )

    @property
    def central_module(self) -> str:
        return self.mixer
