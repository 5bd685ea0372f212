"""Recovery of contexts against what guesses would reach, by hand."""

import numpy as np
import pytest

from pc3d.evaluation.recovery import recovery

EAST, NORTH, WEST = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]


def contexts(*agents):
    """One episode with one step."""
    return np.array([[agents]])


def everyone(teachers):
    return np.ones(teachers.shape[:-1], bool)


def test_a_perfect_student_explains_everything():
    teachers = contexts(EAST, NORTH)
    found = recovery(teachers, teachers, everyone(teachers))
    assert found["alignment"] == pytest.approx(1)
    assert found["variance_explained"] == pytest.approx(1)
    assert found["alignment_with_teammates"] == pytest.approx(0)
    assert found["alignment_of_a_constant"] == pytest.approx(0.5**0.5)  # north-east, for both


def test_a_student_who_says_the_mean_is_aligned_and_explains_nothing():
    teachers = contexts([3.0, 1.0], [3.0, -1.0])
    students = contexts([3.0, 0.0], [3.0, 0.0])
    found = recovery(students, teachers, everyone(teachers))
    assert found["alignment"] == pytest.approx(3 / 10**0.5)
    assert found["alignment"] == pytest.approx(found["alignment_of_a_constant"])
    assert found["alignment"] == pytest.approx(found["alignment_with_teammates"])
    assert found["variance_explained"] == pytest.approx(0)


def test_a_student_can_speak_for_a_teammate():
    teachers = contexts(EAST, WEST, NORTH)
    students = contexts(WEST, NORTH, EAST)
    found = recovery(students, teachers, everyone(teachers))
    assert found["alignment"] == pytest.approx((-1 + 0 + 0) / 3)
    assert found["alignment_with_teammates"] == pytest.approx((1 + 0 + 1 + 0 + 1 - 1) / 6)
    assert found["variance_explained"] < 0


def test_the_length_of_a_context_counts_for_the_variance_alone():
    teachers, students = contexts([2.0, 0.0], [0.0, 4.0]), contexts([1.0, 0.0], [0.0, 1.0])
    found = recovery(students, teachers, everyone(teachers))
    assert found["alignment"] == pytest.approx(1)
    assert found["alignment_of_a_constant"] == pytest.approx(0.5**0.5)
    assert found["variance_explained"] == pytest.approx(1 - (1 + 9) / 10)  # about (1, 2): 1 + 4 each


def test_decisions_that_were_not_made_do_not_count():
    teachers = np.concatenate([contexts([3.0, 1.0], [3.0, -1.0]), np.full((1, 1, 2, 2), np.nan)], axis=1)
    made = np.array([[[True, True], [False, False]]])
    assert recovery(teachers, teachers, made) == recovery(teachers[:, :1], teachers[:, :1], made[:, :1])


def test_what_the_teacher_says_to_all_agents_alike_is_not_personal():
    both, one, other = [[2.0, 0.0], [2.0, 0.0]], [[1.0, 0.0], [-1.0, 0.0]], [[4.0, 1.0], [4.0, -1.0]]
    for moments, share in (([both, other], 2 / 6), ([both, both[::-1]], None), ([one], 1.0)):
        teachers = np.array([moments])
        assert recovery(teachers, teachers, everyone(teachers))["personal_share"] == (
            share if share is None else pytest.approx(share)
        )


def test_what_has_no_answer_is_none():
    alone = contexts(EAST)
    found = recovery(alone, alone, everyone(alone))
    assert found["personal_share"] is None
    assert found["alignment_with_teammates"] is None
    assert found["variance_explained"] is None  # nothing varies
