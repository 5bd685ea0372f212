"""The objective: its equations, what may reach which parameters, and padding that never matters."""

from dataclasses import replace
from functools import lru_cache, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners.distillation import huber
from pc3d.learners.ppo.losses import clipped_objective
from pc3d.learners.ppo.preparation import prepare
from pc3d.learners.ppo.sequences import SequencePlan
from pc3d.learners.registry import algorithm_of
from pc3d.play.choosing import of_action
from pc3d.play.loop import play
from pc3d.play.worlds import TaskWorlds
from pc3d.presets.paper import paper
from pc3d.tasks.spread.world import Spread
from tests import paper_equations as equations
from tests.learners.ppo.padded import features_of, objective
from tests.small import PPO_METHODS, one_of_each_kind, random_team, small_experiment

TASK = Spread(5)
SIZES = jnp.array([1, 3, 5])
# Compiled as a whole, and once for all experiments that it is the same for: step by step is far slower.
compiled_play = partial(jax.jit, static_argnums=0, static_argnames="with_global_state")(play)
compiled_prepare = jax.jit(prepare, static_argnums=(0, 1, 4))
compiled_objective = jax.jit(objective, static_argnums=2)


@lru_cache
def played(experiment, task=TASK):
    algorithm = algorithm_of(experiment)
    learner = algorithm.fresh(experiment, Spread(10))
    keys = jax.random.split(jax.random.key(1), len(SIZES))
    state, team = experiment.critic.global_state, algorithm.team(experiment, learner)
    return learner, compiled_play(TaskWorlds(task), team, keys, SIZES, with_global_state=state)


@partial(jax.jit, static_argnums=0)
def learn(experiment, learner, episodes, key):
    return algorithm_of(experiment).learn(experiment, TASK, learner, episodes, key)


@partial(jax.jit, static_argnums=(0, 3))
def gradient_of(term, networks, batch, experiment):
    """Of one term of the objective."""
    return jax.grad(lambda networks: getattr(objective(networks, batch, experiment), term))(networks)


def prepared(experiment, learner, episodes):
    plan = SequencePlan.make(experiment, len(SIZES), 25)
    return compiled_prepare(experiment, TASK, learner, episodes, plan).sequences


def test_the_clipped_objective_is_the_pessimistic_one():
    ratios, advantages = 1 + 0.5 * random_team(0, 50), random_team(1, 50)
    expected = [equations.clipped_objective(r, a, 0.2) for r, a in zip(ratios, advantages, strict=True)]
    np.testing.assert_allclose(clipped_objective(ratios, advantages, 0.2), expected, atol=1e-6)


def test_huber_is_quadratic_then_linear():
    errors = 2 * random_team(0, 9)
    np.testing.assert_allclose(
        jnp.mean(huber(errors, 0.7)), equations.huber(np.asarray(errors), 0.7), atol=1e-6
    )


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("method", ["ippo", "pc3d", "hyper-pc3d"])
def test_before_the_first_gradient_step_the_policy_is_the_one_that_played(method, pieces):
    experiment = small_experiment(method)
    recipe = replace(experiment.recipe, backpropagation_steps=-(-25 // pieces))
    experiment = replace(experiment, recipe=recipe)
    learner, episodes = played(experiment)
    batch = prepared(experiment, learner, episodes)
    actor = learner.networks.actor
    logits = actor.conditioning(features_of(actor, batch)).logits
    again = of_action(jax.nn.log_softmax(logits), batch.actions)
    decisions = np.asarray(batch.decisions)
    assert decisions.sum() == 25 * SIZES.sum()
    np.testing.assert_allclose(
        np.asarray(again)[decisions], np.asarray(batch.log_probabilities)[decisions], atol=1e-5
    )


@pytest.mark.parametrize("method", ["ippo", "mappo", "pc3d", "a-mappo"])
def test_the_objective_is_the_weighted_sum_of_its_terms(method):
    experiment = small_experiment(method)
    experiment = replace(
        experiment,
        distillation=replace(experiment.distillation, weight=0.3),
        recipe=replace(experiment.recipe, normalise_advantages=False),  # or the policy's term would be zero
    )
    ppo = experiment.algorithm
    learner, episodes = played(experiment)
    batch = prepared(experiment, learner, episodes)
    parts = compiled_objective(learner.networks, batch, experiment)
    actor, decisions = learner.networks.actor, np.asarray(batch.decisions)
    logits = actor.conditioning(features_of(actor, batch)).logits
    probabilities = np.asarray(jax.nn.softmax(logits), np.float64)[decisions]
    entropy = -np.sum(probabilities * np.log(probabilities), axis=-1).mean()
    # The values of before the update are still those of the networks, and the ratio is still one.
    apart = np.asarray((batch.values - batch.value_targets) ** 2)
    value = apart[decisions if method == "ippo" else np.asarray(batch.played)].mean()
    policy = -np.asarray(batch.advantages)[decisions].mean()
    np.testing.assert_allclose((parts.entropy, parts.value), (entropy, value), rtol=1e-4)
    np.testing.assert_allclose(parts.policy, policy, atol=1e-5)
    distilled = 0.3 * parts.distillation if method == "pc3d" else 0
    assert (parts.distillation > 0.001) == (method in ("pc3d", "a-mappo"))
    total = policy + ppo.value_coefficient * value - ppo.entropy_coefficient * entropy + distilled
    np.testing.assert_allclose(parts.total, total, atol=1e-5)


@pytest.mark.parametrize("clips", [True, False])
def test_a_clipped_value_counts_where_its_error_is_the_larger(clips):
    experiment = small_experiment("mappo")
    experiment = replace(experiment, recipe=replace(experiment.recipe, clip_values=clips))
    learner, episodes = played(experiment)
    batch = prepared(experiment, learner, episodes)
    now, targets, clip = np.asarray(batch.values), np.asarray(batch.value_targets), experiment.algorithm.clip
    before = now + random_team(2, *now.shape)
    near = before + np.clip(now - before, -clip, clip)
    errors = (now - targets) ** 2
    expected = np.maximum(errors, (near - targets) ** 2) if clips else errors
    batch = eqx.tree_at(lambda batch: batch.values, batch, before)
    np.testing.assert_allclose(
        compiled_objective(learner.networks, batch, experiment).value, expected.mean(), rtol=1e-4
    )


@pytest.mark.parametrize("per_agent", [True, False])
def test_value_targets_are_advantages_and_values_of_the_reward_that_is_learned_from(per_agent):
    experiment = small_experiment("mappo")
    bare = replace(
        experiment.recipe, normalise_values=False, normalise_advantages=False, reward_per_agent=per_agent
    )
    experiment = replace(experiment, recipe=bare)
    learner, episodes = played(experiment)
    batch = prepared(experiment, learner, episodes)
    for number, size in enumerate(np.asarray(SIZES)):
        rewards = np.asarray(episodes.rewards[number]) / (size if per_agent else 1)
        advantages = np.asarray(batch.advantages[number, :, 0])
        values = np.asarray(batch.values[number])
        errors = rewards[:-1] + experiment.algorithm.discount * values[1:] - values[:-1]
        later = experiment.algorithm.discount * experiment.algorithm.gae_lambda * advantages[1:]
        np.testing.assert_allclose(advantages[:-1], errors + later, atol=1e-4)
        np.testing.assert_allclose(batch.value_targets[number], advantages + values, atol=1e-4)


def test_normalised_targets_and_advantages_are_those_without_normalisation_on_another_scale():
    experiment = small_experiment("mappo")
    bare = replace(experiment.recipe, normalise_values=False, normalise_advantages=False)
    learner, episodes = played(experiment)
    plain = prepared(replace(experiment, recipe=bare), learner, episodes)
    plan = SequencePlan.make(experiment, len(SIZES), 25)
    prepared_now = compiled_prepare(experiment, TASK, learner, episodes, plan)
    scale, batch = prepared_now.scale, prepared_now.sequences
    np.testing.assert_allclose(scale.stretch(batch.value_targets), plain.value_targets, atol=1e-3)
    decisions = np.asarray(batch.decisions)
    expected = np.asarray(plain.advantages)[decisions]
    expected = (expected - expected.mean()) / expected.std()
    np.testing.assert_allclose(np.asarray(batch.advantages)[decisions], expected, atol=1e-4)


def test_an_update_without_rewards_is_no_larger_for_being_normalised_by_the_running_deviation():
    """Divided by their own deviation, its advantages would be as large as any, though they say nothing."""
    experiment = small_experiment("mappo")
    learner, episodes = played(experiment)
    plan = SequencePlan.make(experiment, len(SIZES), 25)
    sizes = []
    for deviation in ("running", "update"):
        recipe = replace(experiment.recipe, advantage_deviation=deviation)
        changed = replace(experiment, recipe=recipe)
        prepared_now = compiled_prepare(changed, TASK, learner, episodes, plan)
        scale, batch = prepared_now.scale, prepared_now.sequences
        decisions = np.asarray(batch.decisions)
        bare = prepared(
            replace(changed, recipe=replace(recipe, normalise_advantages=False)), learner, episodes
        )
        raw = np.asarray(bare.advantages)[decisions]
        expected = (raw - raw.mean()) / (raw.std() if deviation == "update" else float(scale.deviation))
        np.testing.assert_allclose(np.asarray(batch.advantages)[decisions], expected, atol=1e-4)
        after = eqx.tree_at(lambda learner: learner.value_scale, learner, scale)
        nothing = eqx.tree_at(lambda episodes: episodes.rewards, episodes, jnp.zeros_like(episodes.rewards))
        sizes.append(np.asarray(prepared(changed, after, nothing).advantages)[decisions].std())
    assert sizes[0] < 0.5
    np.testing.assert_allclose(sizes[1], 1, atol=1e-3)


def test_values_are_read_on_the_scale_that_was_followed():
    """After an update, a network's value of zero stands for the mean of the targets it followed."""
    experiment = small_experiment("mappo")
    bare = replace(experiment.recipe, normalise_advantages=False)
    experiment = replace(experiment, recipe=bare)
    learner, episodes = played(experiment)
    followed = eqx.tree_at(
        lambda learner: learner.value_scale,
        learner,
        learner.value_scale.follow(jnp.array([-30.0, -10.0]), jnp.array([True, True]), 1.0),
    )
    one, other = (prepared(experiment, each, episodes) for each in (learner, followed))
    values = [np.asarray(one.values), -20 + 10 * np.asarray(one.values)]
    for batch, read in zip((one, other), values, strict=True):
        advantages = np.asarray(batch.advantages[:, :, 0])
        rewards = np.asarray(episodes.rewards) / np.asarray(SIZES)[:, None]
        errors = rewards[:, :-1] + experiment.algorithm.discount * read[:, 1:] - read[:, :-1]
        later = experiment.algorithm.discount * experiment.algorithm.gae_lambda * advantages[:, 1:]
        np.testing.assert_allclose(advantages[:, :-1], errors + later, atol=1e-3)


def test_the_student_is_taught_by_the_averaged_teacher():
    experiment = small_experiment("pc3d")
    learner, episodes = played(experiment)
    learner = eqx.tree_at(
        lambda learner: learner.averaged_teacher.queries, learner, 5 * learner.averaged_teacher.queries
    )
    batch = prepared(experiment, learner, episodes)
    expected = learner.averaged_teacher.read(batch.observations, batch.present).contexts
    decisions = np.asarray(batch.decisions)
    np.testing.assert_allclose(
        np.asarray(batch.teacher_contexts)[decisions], np.asarray(expected)[decisions], atol=1e-5
    )
    learning = learner.networks.critic.teacher.read(batch.observations, batch.present).contexts
    assert np.abs(np.asarray(learning - expected)[decisions]).max() > 1e-3


def test_the_distillation_term_is_the_mean_huber_over_decisions():
    experiment = small_experiment("pc3d")
    learner, episodes = played(experiment)
    batch = prepared(experiment, learner, episodes)
    batch = eqx.tree_at(lambda batch: batch.teacher_contexts, batch, 3 * batch.teacher_contexts)
    parts = compiled_objective(learner.networks, batch, experiment)
    actor = learner.networks.actor
    contexts = actor.conditioning(features_of(actor, batch)).context
    apart = [
        equations.huber(np.asarray(contexts[index] - batch.teacher_contexts[index]), 1.0, "root")
        for index in zip(*np.nonzero(np.asarray(batch.decisions)), strict=True)
    ]
    np.testing.assert_allclose(parts.distillation, np.mean(apart), rtol=1e-5)


def test_distillation_reaches_neither_the_teacher_nor_the_gate():
    experiment = small_experiment("pc3d")
    learner, episodes = played(experiment)
    batch = prepared(experiment, learner, episodes)
    gradient = gradient_of("distillation", learner.networks, batch, experiment)
    student = gradient.actor.conditioning.student
    for untouched in (gradient.critic, student.to_reliance, gradient.actor.conditioning.to_modulation):
        assert all(float(jnp.max(jnp.abs(leaf))) == 0 for leaf in jax.tree.leaves(untouched))
    assert float(jnp.max(jnp.abs(student.to_context.weight))) > 0


def test_the_teacher_learns_from_the_value_and_the_gate_from_the_policy():
    experiment = small_experiment("pc3d")
    learner, episodes = played(experiment)
    batch = prepared(experiment, learner, episodes)
    value = gradient_of("value", learner.networks, batch, experiment)
    policy = gradient_of("policy", learner.networks, batch, experiment)
    assert float(jnp.max(jnp.abs(value.critic.teacher.queries))) > 0
    assert all(float(jnp.max(jnp.abs(leaf))) == 0 for leaf in jax.tree.leaves(value.actor))
    assert float(jnp.max(jnp.abs(policy.actor.conditioning.student.to_reliance.weight))) > 0
    assert all(float(jnp.max(jnp.abs(leaf))) == 0 for leaf in jax.tree.leaves(policy.critic))


def unless_present(present, values):
    """NaN for whoever is not there, or what is not true of them."""
    nonsense = True if values.dtype == bool else jnp.nan
    return jnp.where(present.reshape(*present.shape, *[1] * (values.ndim - present.ndim)), values, nonsense)


@pytest.mark.parametrize("method", one_of_each_kind(PPO_METHODS))
def test_what_stands_in_padded_slots_changes_no_bit_of_loss_or_gradient(method):
    experiment = small_experiment(method)
    learner, episodes = played(experiment)
    present = episodes.present
    dirty = eqx.tree_at(
        lambda episode: (episode.observations, episode.kept),
        episodes,
        (
            jnp.where(present[..., None], episodes.observations, jnp.nan),
            jax.tree.map(partial(unless_present, present[:, :-1]), episodes.kept),
        ),
    )
    runs = (learn(experiment, learner, each, jax.random.key(0)) for each in (episodes, dirty))
    (clean_learner, clean), (dirty_learner, dirty_report) = runs
    assert clean.scalars["loss_total"] == dirty_report.scalars["loss_total"]
    for one, other in zip(jax.tree.leaves(clean_learner), jax.tree.leaves(dirty_learner), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_wider_world_changes_the_update_by_rounding_only():
    experiment = small_experiment("pc3d")
    reports = []
    for slots in (5, 8):
        learner, episodes = played(experiment, Spread(slots))
        reports.append(learn(experiment, learner, episodes, jax.random.key(0))[1].scalars)
    for one, other in zip(jax.tree.leaves(reports[0]), jax.tree.leaves(reports[1]), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)


def test_the_averaged_teacher_follows_at_its_rate():
    experiment = small_experiment("pc3d")
    still = replace(experiment, distillation=replace(experiment.distillation, teacher_rate=0.0))
    at_once = replace(experiment, distillation=replace(experiment.distillation, teacher_rate=1.0))
    learner, episodes = played(experiment)
    kept, _ = learn(still, learner, episodes, jax.random.key(0))
    np.testing.assert_array_equal(kept.averaged_teacher.queries, learner.averaged_teacher.queries)
    moved, _ = learn(at_once, learner, episodes, jax.random.key(0))
    np.testing.assert_allclose(
        moved.averaged_teacher.queries, moved.networks.critic.teacher.queries, atol=1e-6
    )
    once = replace(experiment, algorithm=replace(experiment.algorithm, epochs=1, batch_size=len(SIZES)))
    stepped, _ = learn(once, learner, episodes, jax.random.key(0))
    before, after = learner.averaged_teacher.queries, stepped.networks.critic.teacher.queries
    expected = before + once.distillation.teacher_rate * (after - before)
    np.testing.assert_allclose(stepped.averaged_teacher.queries, expected, atol=1e-7)


def test_an_update_takes_one_step_for_each_minibatch_of_each_epoch():
    experiment = small_experiment("mappo")
    experiment = replace(experiment, algorithm=replace(experiment.algorithm, epochs=3, batch_size=1))
    learner, episodes = played(experiment)
    after, _ = learn(experiment, learner, episodes, jax.random.key(0))
    assert int(after.adam.count) == 3 * len(SIZES)


@pytest.mark.parametrize(
    ("task", "method", "horizon", "unit", "expected"),
    [
        ("spread", "mappo", 25, "team_steps", (1, 25, 2, 4)),
        ("lbf", "mappo", 50, "team_steps", (1, 50, 1, 2)),
        ("lbf", "ippo", 50, "team_steps", (1, 50, 8, 2)),
        ("rware", "mappo", 500, "team_steps", (8, 63, 8, 1)),
        ("spread", "mappo", 25, "sequences", (1, 25, 1, 8)),
        ("lbf", "ippo", 50, "sequences", (1, 50, 1, 16)),
        ("rware", "mappo", 500, "sequences", (8, 63, 1, 8)),
    ],
)
def test_minibatches_hold_as_many_whole_sequences_as_fit(task, method, horizon, unit, expected):
    experiment = paper(task, method)
    experiment = replace(experiment, recipe=replace(experiment.recipe, batch_unit=unit))
    plan = SequencePlan.make(experiment, experiment.algorithm.update_every_episodes, horizon)
    assert (plan.pieces, plan.length, plan.minibatches, plan.sequences_per_minibatch) == expected


def test_every_sequence_is_in_exactly_one_minibatch_of_an_epoch():
    plan = SequencePlan.make(small_experiment("mappo"), 3, 25)
    epoch = np.asarray(plan.shuffled(jax.random.key(0)))
    assert epoch.shape == (2, 2)
    assert sorted(epoch.ravel()) == [-1, 0, 1, 2]
