"""CTDS solves a tiny task with a known answer: the student, from what its teacher says."""

from pc3d.experiment.ctds_settings import CtdsSettings
from tests.learners.q_learning.test_probes import SETTINGS
from tests.learners.replayed_probes import trained_with
from tests.probes import TeamSize

OWN = {"mixer": "mean-utility", "team_encoder_widths": (16,), "team_encoding": 8, "student_plays": 0.25}


def test_the_student_tells_its_teams_size_from_history():
    """With the mean of utilities, as VDN: a mixer that knows the size may shut one of them out."""
    assert trained_with(CtdsSettings(**vars(SETTINGS), **OWN), "ctds", TeamSize, updates=40)[1] > 0.95
