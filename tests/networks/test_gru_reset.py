"""A memory that starts from nothing within a sequence: nothing before that moment matters, nor is taught."""

from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pc3d.networks.layers import Gru, drawn_uniformly
from tests.small import random_team

# How many moments, the rows side by side, and how wide inputs and memory are.
SHAPES = [(6, (3,), 4, 5), (5, (2, 3), 3, 2), (1, (4,), 2, 3)]
SHARES = (0.0, 0.3, 1.0)  # of moments that are fresh: none, some, all


class Case(NamedTuple):
    gru: Gru
    memory: jax.Array
    inputs: jax.Array


@lru_cache
def case_of(shape, seed=0):
    moments, rows, inputs, width = shape
    gru = drawn_uniformly(jax.random.key(7), Gru(jax.random.key(0), inputs, width))  # its biases are not zero
    return Case(gru, random_team(2 * seed, *rows, width), random_team(2 * seed + 1, moments, *rows, inputs))


def marks_of(shape, seed, share):
    moments, rows, _, _ = shape
    return np.random.default_rng(seed).random((moments, *rows)) < share


def by_the_scan(gru, memory, inputs, fresh):
    """The same in plain words: forget, then step."""

    def moment(memory, now):
        value, fresh = now
        memory = gru.step(jnp.where(fresh[..., None], 0, memory), value)
        return memory, memory

    return jax.lax.scan(moment, memory, (inputs, fresh))[1]


step_from = jax.jit(Gru.step)


@jax.jit
def written(case, fresh):
    return case.gru.over_time(case.memory, case.inputs, fresh)


@jax.jit
def automatic(case, fresh):
    return by_the_scan(*case, fresh)


def gradient_of(function):
    return jax.jit(jax.grad(lambda case, fresh, weights: jnp.sum(weights * function(case, fresh))))


written_gradient, automatic_gradient = gradient_of(written), gradient_of(automatic)


def assert_trees_close(one, other):
    for left, right in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@given(seed=st.integers(0, 1000), share=st.sampled_from(SHARES))
@settings(max_examples=6, deadline=None)
def test_a_sequence_is_its_steps_with_the_memory_zeroed_at_fresh_moments(shape, seed, share):
    case, fresh = case_of(shape), marks_of(shape, seed, share)
    together, memory = written(case, fresh), case.memory
    for moment, marks in enumerate(fresh):
        memory = step_from(case.gru, np.where(marks[..., None], 0, memory), case.inputs[moment])
        np.testing.assert_allclose(together[moment], memory, atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
@given(seed=st.integers(0, 1000), share=st.sampled_from(SHARES))
@settings(max_examples=6, deadline=None)
def test_no_bit_after_a_fresh_moment_depends_on_what_was_before_it(shape, seed, share):
    fresh = marks_of(shape, seed, share)
    later = np.flip(np.cumsum(np.flip(fresh, 0), 0), 0)  # fresh moments from here on
    before = np.concatenate([later[1:], np.zeros_like(later[:1])]) > 0
    one, another = case_of(shape), case_of(shape, seed=1)
    changed = Case(
        one.gru,
        jnp.where(later[0][..., None] > 0, another.memory, one.memory),
        jnp.where(before[..., None], another.inputs, one.inputs),
    )
    first, second = np.asarray(written(one, fresh)), np.asarray(written(changed, fresh))
    np.testing.assert_array_equal(first[~before], second[~before])
    assert np.all(first[before] != second[before])


@pytest.mark.parametrize("shape", SHAPES)
@given(seed=st.integers(0, 1000), share=st.sampled_from(SHARES))
@settings(max_examples=6, deadline=None)
def test_the_written_derivative_is_the_automatic_one_of_a_scan_that_forgets(shape, seed, share):
    """For weights and biases, the first memory and the inputs."""
    case, fresh = case_of(shape), marks_of(shape, seed, share)
    weights = random_team(5, *fresh.shape, case.gru.width)
    found, expected = (gradient(case, fresh, weights) for gradient in (written_gradient, automatic_gradient))
    assert_trees_close(found, expected)
    assert all(np.any(leaf != 0) for leaf in jax.tree.leaves(found.gru.from_input))
    forgotten = fresh.any(axis=0) & (np.argmax(fresh, axis=0) == 0)
    np.testing.assert_array_equal(np.asarray(found.memory)[forgotten], 0)
    assert np.all(np.asarray(found.memory)[~forgotten] != 0)


@pytest.mark.parametrize("shape", SHAPES)
def test_without_marks_everything_is_as_with_marks_that_are_all_false(shape):
    case, nobody = case_of(shape), marks_of(shape, 0, 0.0)
    weights = random_team(5, *nobody.shape, case.gru.width)
    np.testing.assert_array_equal(written(case, None), written(case, nobody))
    assert_trees_close(written_gradient(case, None, weights), written_gradient(case, nobody, weights))
