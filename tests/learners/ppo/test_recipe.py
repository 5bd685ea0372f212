"""Every point of the recipe does what its name says: seen in gradients, steps and rates."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners.ppo.preparation import prepare
from pc3d.learners.ppo.sequences import SequencePlan
from tests.learners.ppo.padded import objective
from tests.learners.ppo.test_objective import SIZES, TASK, learn, played, prepared
from tests.small import small_experiment


def with_recipe(experiment, **changes):
    return replace(experiment, recipe=replace(experiment.recipe, **changes))


def largest(tree):
    return max(float(jnp.max(jnp.abs(leaf))) for leaf in jax.tree.leaves(tree))


def one_step(experiment, longest, **recipe):
    """The networks' gradient, and the one that a single step took, as its change of the parameters tells.

    Adam's first step is g / (|g| + ε): with ε = 1 and rate 1 it can be turned back into g.
    """
    ppo = replace(
        experiment.algorithm, learning_rate=1.0, epochs=1, batch_size=len(SIZES), max_gradient_norm=longest
    )
    experiment = with_recipe(replace(experiment, algorithm=ppo), adam_epsilon=1.0, **recipe)
    learner, episodes = played(experiment)
    batch = prepared(experiment, learner, episodes)
    gradient = jax.grad(lambda networks: objective(networks, batch, experiment).total)(learner.networks)
    after, report = learn(experiment, learner, episodes, jax.random.key(0))
    steps = jax.tree.map(lambda old, new: old - new, learner.networks, after.networks)
    taken = jax.tree.map(lambda step: step / (1 - jnp.abs(step)), steps)
    return gradient, taken, report


def length(tree):
    return float(jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree))))


def assert_close(one, other):
    for left, right in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(left, right, atol=2e-5)


def scaled(tree, factor):
    return jax.tree.map(lambda leaf: leaf * factor, tree)


def test_a_short_gradient_is_taken_as_it_is():
    gradient, taken, report = one_step(small_experiment("pc3d"), 1e6)
    assert_close(taken, gradient)
    assert float(report.scalars["gradient_norm"]) == pytest.approx(length(gradient), rel=1e-4)


def test_a_long_gradient_is_shortened_as_a_whole():
    gradient, taken, report = one_step(small_experiment("pc3d"), 0.1)
    assert length(gradient) > 0.2
    assert_close(taken, scaled(gradient, 0.1 / length(gradient)))
    assert float(report.scalars["gradient_norm"]) == pytest.approx(length(gradient), rel=1e-4)  # before


def test_apart_the_critic_does_not_shorten_the_actor():
    gradient, taken, _ = one_step(small_experiment("pc3d"), 0.1, clip_gradients="apart")
    assert length(gradient.critic) > 0.2
    for part in ("actor", "critic"):
        own = getattr(gradient, part)
        assert_close(getattr(taken, part), scaled(own, min(1, 0.1 / length(own))))


@pytest.mark.parametrize(
    ("schedule", "shares"), [("linear", (1.0, 0.5, 0.0625)), ("constant", (1.0, 1.0, 1.0))]
)
def test_the_rate_falls_to_zero_or_stays(schedule, shares):
    experiment = with_recipe(small_experiment("mappo", episodes=48), learning_rate_schedule=schedule)
    assert experiment.updates == 16
    learner, episodes = played(experiment)
    update = jax.jit(lambda learner: learn(experiment, learner, episodes, jax.random.key(0))[1])
    for number, share in zip((0, 8, 15), shares, strict=True):
        at = eqx.tree_at(lambda learner: learner.update, learner, jnp.asarray(number, jnp.int32))
        assert float(update(at).scalars["learning_rate"]) == pytest.approx(
            share * experiment.algorithm.learning_rate
        )


def gradient_of_policy(experiment, change=lambda networks: networks):
    learner, episodes = played(experiment)
    batch = prepared(experiment, learner, episodes)
    gradient = jax.grad(lambda networks: objective(networks, batch, experiment).policy)
    return gradient(change(learner.networks)).actor.conditioning.student


@pytest.mark.parametrize("learned", [True, False])
def test_the_gates_constants_are_trained_if_asked(learned):
    student = gradient_of_policy(with_recipe(small_experiment("pc3d"), gate_learned=learned))
    assert (largest((student.gate_scale, student.gate_offset)) > 0) is learned


@pytest.mark.parametrize("way", ["clipped", "straight"])
def test_beyond_its_bounds_reliance_is_trained_only_straight_through(way):
    def over_reliant(networks):
        place = lambda networks: networks.actor.conditioning.student.to_reliance.bias  # noqa: E731
        return eqx.tree_at(place, networks, jnp.full(1, 50.0))

    student = gradient_of_policy(with_recipe(small_experiment("pc3d"), reliance_gradient=way), over_reliant)
    assert (largest(student.to_reliance) > 0) is (way == "straight")


@pytest.mark.parametrize("reaches", [True, False])
def test_the_policy_trains_the_context_if_asked(reaches):
    recipe = {"policy_gradient_reaches_context": reaches}
    student = gradient_of_policy(with_recipe(small_experiment("pc3d"), **recipe))
    assert (largest(student.to_context) > 0) is reaches


@pytest.mark.parametrize(("reduction", "power"), [("root", 0.5), ("sum", 1)])
def test_distillation_grows_with_the_contexts_width_unless_it_is_a_mean(reduction, power):
    experiment = small_experiment("pc3d")
    learner, episodes = played(experiment)
    batch = prepared(experiment, learner, episodes)
    mean, more = (
        objective(learner.networks, batch, with_recipe(experiment, huber_reduction=how)).distillation
        for how in ("mean", reduction)
    )
    assert float(more) == pytest.approx(experiment.critic.set_embed_dim**power * float(mean), rel=1e-5)


@pytest.mark.parametrize("rate", [0.01, 0.5])
def test_value_statistics_follow_at_their_rate(rate):
    experiment = with_recipe(small_experiment("mappo"), value_statistics_rate=rate)
    learner, episodes = played(experiment)
    plan = SequencePlan.make(experiment, len(SIZES), 25)
    prepared_now = prepare(experiment, TASK, learner, episodes, plan)
    scale, batch = prepared_now.scale, prepared_now.sequences
    targets = scale.stretch(batch.value_targets)
    assert float(scale.weight) == pytest.approx(rate)
    assert float(scale.mean) == pytest.approx(rate * float(targets.mean()), rel=1e-4)
