"""Teachers and students made by hand, whose health is known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.networks.context_health import attention_health, recovery
from pc3d.networks.teacher import Reading

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
            pytest.approx(np.nan if share is None else share, nan_ok=True)
        )


def test_what_has_no_answer_is_none():
    alone = contexts(EAST)
    found = recovery(alone, alone, everyone(alone))
    assert np.isnan(found["personal_share"])
    assert np.isnan(found["alignment_with_teammates"])
    assert np.isnan(found["variance_explained"])  # nothing varies


def reading(over_agents, over_tokens, tokens):
    """Of one moment; attentions by agent, then by token."""
    made = [np.array([part], float) for part in (over_agents, tokens, over_tokens)]
    return Reading(*made, np.einsum("...nk,...kd->...nd", made[2], made[1]))


FLAT = reading([[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]], [EAST, EAST])
SHARP = reading([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], [EAST, NORTH])
TWO = np.array([[True, True]])


def test_a_flat_teacher_has_full_entropies_and_one_token():
    assert attention_health(FLAT, TWO) == pytest.approx(
        {"attention_over_agents": 1, "attention_over_tokens": 1, "effective_tokens": 1}
    )


def test_a_sharp_teacher_has_none_and_all_its_tokens():
    assert attention_health(SHARP, TWO) == pytest.approx(
        {"attention_over_agents": 0, "attention_over_tokens": 0, "effective_tokens": 2}
    )


def test_attention_is_measured_against_as_many_as_there_are():
    """Three of four slots are filled, and both tokens look at two of the three."""
    over_agents = [[0.5, 0.5], [0.5, 0.0], [0.0, 0.5], [0.0, 0.0]]
    over_tokens = [[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.5, 0.5]]
    made = reading(over_agents, over_tokens, [EAST, [1.0, 1.0]])
    found = attention_health(made, np.array([[True, True, True, False]]))
    assert found["attention_over_agents"] == pytest.approx(np.log(2) / np.log(3))
    assert found["attention_over_tokens"] == pytest.approx(
        -(0.9 * np.log(0.9) + 0.1 * np.log(0.1)) / np.log(2)
    )
    assert found["effective_tokens"] == pytest.approx(4 / (2 + 2 * 0.5))  # their cosine is √½


def test_moments_with_nobody_else_say_nothing_about_attention_over_agents():
    alone = reading([[1.0, 1.0], [0.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]], [EAST, EAST])
    only = attention_health(alone, np.array([[True, False]]))
    assert np.isnan(only["attention_over_agents"])
    assert only["attention_over_tokens"] == pytest.approx(1)
    both = jax.tree.map(lambda one, other: np.concatenate([one, other]), alone, SHARP)
    assert attention_health(both, np.array([[True, False], [True, True]]))["attention_over_agents"] == 0


def test_one_token_leaves_no_choice_to_measure():
    one = reading([[0.5], [0.5]], [[1.0], [1.0]], [EAST])
    assert np.isnan(attention_health(one, TWO)["attention_over_tokens"])


def test_a_team_of_one_beside_others_changes_nothing_that_is_between_teammates():
    teachers = np.array([[[1.0, 0.0], [-1.0, 2.0]], [[5.0, 5.0], [0.0, 0.0]]])
    found = recovery(teachers, teachers, np.array([[True, True], [True, False]]))
    assert found["personal_share"] == pytest.approx(1)
    assert found["alignment_with_teammates"] == pytest.approx(-(5**-0.5))


def test_jax_measures_what_numpy_does():
    chance = np.random.default_rng(0)
    students, teachers = chance.normal(size=(2, 6, 5, 3))
    made = np.arange(5) < chance.integers(1, 6, size=(6, 1))
    weights = np.abs(chance.normal(size=(2, 6, 5, 4))) * made[..., None] + 1e-9
    whole = Reading(
        weights[0] / weights[0].sum(axis=-2, keepdims=True),
        chance.normal(size=(6, 4, 3)),
        weights[1] / weights[1].sum(axis=-1, keepdims=True),
        teachers,
    )
    expected = {**recovery(students, teachers, made), **attention_health(whole, made)}
    compiled = jax.jit(lambda *given: {**recovery(*given[:3]), **attention_health(given[3], given[2])})
    found = compiled(*jax.tree.map(jnp.asarray, (students, teachers, made, whole)))
    for name, value in expected.items():
        assert float(found[name]) == pytest.approx(float(value), rel=1e-4), name
