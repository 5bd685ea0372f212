"""MIPI-style learning: its equations, its limits, and what neither padding nor order change."""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners.experience import Counts
from pc3d.learners.mipi.fitting import minibatch_gradient, policy_in
from pc3d.learners.mipi.imagined_teams import Imagined, imagined
from pc3d.learners.q_learning.losses import Given, objective
from pc3d.learners.q_learning.soft_policy import Reference, SoftPolicy
from pc3d.learners.registry import algorithm_of
from pc3d.networks.reference import blinded, soft_actor
from pc3d.play.actor_team import ActorTeam
from pc3d.play.loop import play
from pc3d.play.worlds import TaskWorlds
from pc3d.system.errors import BadInput
from pc3d.tasks.spread.world import Spread
from tests import factored_equations as factored
from tests import paper_equations as equations
from tests import soft_equations
from tests.learners.played import CENTER, DEVIATION, SCALE, SIZES, with_garbage
from tests.probes import ActionReward
from tests.small import small_experiment

COST = 0.3
TASK, SPLIT = Spread(5), Spread(5).split
USUAL = small_experiment("mipi")
EXPERIMENT = replace(  # targets of one step; traces have tests of their own
    USUAL, algorithm=replace(USUAL.algorithm, trace=0.0, information_cost=COST, reference_updates=2)
)
ALGORITHM = algorithm_of(EXPERIMENT)
compiled_play = jax.jit(play, static_argnums=0)
learn = jax.jit(
    lambda learner, episodes: ALGORITHM.learn(EXPERIMENT, TASK, learner, episodes, jax.random.key(0))
)


@pytest.fixture(scope="module")
def learner():
    """Whose slow copy differs from its networks, and whose reference prefers some actions."""
    fresh = ALGORITHM.fresh(EXPERIMENT, Spread(10))
    slow = jax.tree.map(lambda leaf: leaf * 1.3 - 0.02, fresh.values.networks)
    fond = jax.tree.map(lambda leaf: leaf * 1.5 + 0.05, fresh.reference)
    fond = blinded(
        eqx.tree_at(lambda one: one.conditioning.head.weight, fond, replace_fn=lambda w: 30 * w), SPLIT
    )
    return eqx.tree_at(lambda one: (one.values.slow, one.reference), fresh, (slow, fond))


@pytest.fixture(scope="module")
def episodes(learner):
    keys = jax.random.split(jax.random.key(1), len(SIZES))
    return compiled_play(TaskWorlds(TASK), ALGORITHM.team(EXPERIMENT, learner), keys, SIZES)


@pytest.fixture(scope="module")
def drawn(episodes):
    return imagined(jax.random.key(3), episodes, 3, 0.8)


@jax.jit
def parts_of(learner, reference, episodes):
    given = Given(learner.values.slow, SCALE, False, reference)
    return objective(EXPERIMENT, learner.values.networks, given, episodes, Counts.of(episodes))


@jax.jit
def fitted_loss(learner, drawn):
    policy = (learner.values.networks.actor, Reference(learner.reference, learner.cost))
    gradient, loss = minibatch_gradient(
        learner.next_reference.actor, drawn, policy=policy, split=SPLIT, roster_changes=False
    )
    return loss, gradient


def uniform(learner):
    head = jax.tree.map(jnp.zeros_like, learner.reference.conditioning.head)
    return Reference(eqx.tree_at(lambda one: one.conditioning.head, learner.reference, head), learner.cost)


def said_by(actor, views):
    return np.asarray(equations.said_by_actor(actor, np.asarray(views, np.float64))[0])


def losses_by_hand(learner, episodes, target_of):
    """Squared errors of every step, and what was said of it: online and slow values, and those of p."""
    networks, slow, errors = learner.values.networks, learner.values.slow, []
    for episode, size in enumerate(SIZES):
        seen = np.asarray(episodes.observations[episode, :, :size], np.float64)
        said = [
            [said_by(actor, seen[:, i]) for i in range(size)]
            for actor in (networks.actor, slow.actor, learner.reference)
        ]
        for time in range(TASK.horizon):
            taken = [said[0][i][time][int(episodes.actions[episode, time, i])] for i in range(size)]
            value = factored.mean(networks.critic, seen[time], taken, "absolute")
            target = target_of(
                float(episodes.rewards[episode, time]) / size,
                EXPERIMENT.algorithm.discount,
                terminated=bool(episodes.terminated[episode, time]),
                said=[[each[time + 1] for each in of_actor] for of_actor in said],
                mix=lambda utilities, after=seen[time + 1]: (
                    CENTER + DEVIATION * factored.mean(slow.critic, after, utilities, "absolute")
                ),
            )
            errors.append((value - (target - CENTER) / DEVIATION) ** 2)
    return np.mean(errors)


def test_the_loss_of_values_is_that_of_the_equations(learner, episodes):
    def target(reward, discount, *, terminated, said, mix):
        online, slow, usual = said
        policies = [soft_equations.soft(*each, COST) for each in zip(online, usual, strict=True)]
        return soft_equations.soft_target(
            *(reward, discount),
            terminated=terminated,
            slow=slow,
            policies=policies,
            price=COST * DEVIATION,
            mix=mix,
        )

    made = parts_of(learner, Reference(learner.reference, learner.cost), episodes)
    np.testing.assert_allclose(made.value, losses_by_hand(learner, episodes, target), rtol=1e-5)


def test_nats_and_entropy_are_means_over_all_who_decide(learner, episodes):
    nats, entropies = [], []
    for episode, size in enumerate(SIZES):
        for i in range(size):
            seen = np.asarray(episodes.observations[episode, :, i], np.float64)
            said = (said_by(actor, seen) for actor in (learner.values.networks.actor, learner.reference))
            policies = [soft_equations.soft(*each, COST) for each in zip(*said, strict=True)][:-1]
            nats += [soft_equations.information(*policy) for policy in policies]
            entropies += [soft_equations.entropy(chances) for chances, _ in policies]
    made = parts_of(learner, Reference(learner.reference, learner.cost), episodes)
    np.testing.assert_allclose(
        [made.named["information"], made.named["entropy"]], [np.mean(nats), np.mean(entropies)], rtol=1e-5
    )
    assert made.named["information"] > 0.05


def test_with_a_uniform_reference_it_is_maximum_entropy_qmix(learner, episodes):
    """But for a constant: what is paid is what entropy lacks of the greatest."""

    def target(reward, discount, *, terminated, said, mix):
        online, slow, _ = said
        shape = {"online": online, "slow": slow, "cost": COST, "price": COST * DEVIATION, "mix": mix}
        return soft_equations.maximum_entropy_target(reward, discount, terminated=terminated, **shape)

    made = parts_of(learner, uniform(learner), episodes)
    np.testing.assert_allclose(made.value, losses_by_hand(learner, episodes, target), rtol=1e-5)
    np.testing.assert_allclose(made.named["information"], np.log(5) - made.named["entropy"], rtol=1e-5)


@pytest.mark.slow
def test_where_nothing_costs_anything_it_is_qmix_that_takes_the_best(learner, episodes):
    free = Reference(learner.reference, jnp.asarray(1e-7))
    soft, greedy = (parts_of(learner, reference, episodes) for reference in (free, None))
    np.testing.assert_allclose(soft.target, greedy.target, rtol=1e-5)
    np.testing.assert_allclose(soft.value, greedy.value, rtol=1e-5)
    assert soft.named["entropy"] < 1e-3
    utilities = learner.values.networks.actor
    actor = soft_actor(learner.reference, utilities, free.cost)
    keys = jax.random.split(jax.random.key(5), len(SIZES))
    plays = [compiled_play(TaskWorlds(TASK), ActorTeam(one), keys, SIZES) for one in (actor, utilities)]
    there = np.asarray(plays[0].present[:, :-1])
    np.testing.assert_array_equal(*(np.asarray(each.actions)[there] for each in plays))


def test_the_next_references_loss_is_that_of_the_equations(learner, episodes, drawn):
    losses = []
    for episode, size in enumerate(SIZES):
        for i in range(size):
            seen = np.asarray(episodes.observations[episode, :, i], np.float64)
            kept = np.asarray(drawn.kept[episode, i])
            views = np.array([soft_equations.without(view, SPLIT.places, kept) for view in seen])
            own = np.array([soft_equations.blind(view, SPLIT.places) for view in seen])
            worth, usual = said_by(learner.values.networks.actor, views), said_by(learner.reference, own)
            told = said_by(learner.next_reference.actor, own)
            for time in range(TASK.horizon):
                chances, _ = soft_equations.soft(worth[time], usual[time], COST)
                losses.append(-chances @ np.log(equations.softmax(told[time])))
    assert 0 < np.asarray(drawn.kept)[:, 0].mean() < 1
    np.testing.assert_allclose(fitted_loss(learner, drawn)[0], np.mean(losses), rtol=1e-5)


def test_one_plain_actor_says_what_utilities_and_reference_say(learner, episodes):
    actor, utilities = ALGORITHM.policy(learner).actor, learner.values.networks.actor
    seen = jnp.where(episodes.present[..., None], episodes.observations, 0)
    worth, usual, said = (
        one.says(one.over_episodes(seen)).logits for one in (utilities, learner.reference, actor)
    )
    chances = SoftPolicy.of(worth, usual, learner.cost).chances
    np.testing.assert_allclose(jax.nn.softmax(said), chances, atol=1e-5)
    assert not actor.values_actions  # it draws


@pytest.mark.slow
def test_the_reference_does_not_see_teammates_before_and_after_it_learned(learner, episodes):
    after = learner
    for _ in range(2):
        after, _ = learn(after, episodes)
    moved = jnp.where(SPLIT.of_teammates, episodes.observations + 1.0, episodes.observations)
    for one in (learner.reference, after.reference, after.next_reference.actor):
        here, there = (one.says(one.over_episodes(views)).logits for views in (episodes.observations, moved))
        np.testing.assert_array_equal(here, there)
        assert not np.any(one.encoder.layers[0].weight[SPLIT.of_teammates])
    actor = ALGORITHM.policy(learner).actor
    here, there = (actor.says(actor.over_episodes(views)).logits for views in (episodes.observations, moved))
    assert np.abs(here - there).max() > 1e-3  # and the policy does


def test_without_any_teammates_in_view_a_policy_cannot_depend_on_them(learner, episodes):
    policy = (learner.values.networks.actor, Reference(learner.reference, learner.cost))
    nobody = jnp.zeros((len(SIZES), 5, 3), bool)
    moved = jnp.where(SPLIT.of_teammates, episodes.observations + 1.0, episodes.observations)
    both = [
        policy_in(Imagined(each, nobody), policy, SPLIT, roster_changes=False).chances
        for each in (episodes, replace(episodes, observations=moved))
    ]
    there = np.asarray(episodes.present)
    np.testing.assert_array_equal(*(np.asarray(chances)[there] for chances in both))


def test_a_reference_stays_for_its_updates_and_the_next_one_takes_over(learner, episodes):
    first, lesson = learn(learner, episodes)
    second, _ = learn(first, episodes)
    assert same(first.reference, learner.reference)
    assert not same(first.next_reference.actor, learner.next_reference.actor)
    assert same(second.reference, second.next_reference.actor)
    assert second.update == second.values.update == 2
    assert all(map(bool, vars(lesson.finite).values()))


def test_what_stands_in_padded_slots_changes_no_bit_of_an_update(learner, episodes):
    both = [learn(learner, each) for each in (episodes, with_garbage(episodes))]
    assert same(*both)


def test_an_order_of_the_team_changes_nothing(learner, episodes, drawn):
    order = jnp.array([4, 2, 0, 1, 3])
    moved = replace(
        episodes,
        present=episodes.present[:, :, order],
        observations=episodes.observations[:, :, order],
        actions=episodes.actions[:, :, order],
    )
    reference = Reference(learner.reference, learner.cost)
    one, other = (parts_of(learner, reference, each) for each in (episodes, moved))
    for name in ("information", "entropy"):
        np.testing.assert_allclose(one.named[name], other.named[name], rtol=1e-5)
    for name in ("value", "target"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-5)
    losses = [fitted_loss(learner, each)[0] for each in (drawn, Imagined(moved, drawn.kept[:, order]))]
    np.testing.assert_allclose(*losses, rtol=1e-5)


def test_a_wider_padding_imagines_the_same_teams(episodes):
    present, observations, actions = (
        jnp.pad(part, ((0, 0), (0, 0), (0, 3), (0, 0))[: part.ndim])
        for part in (episodes.present, episodes.observations, episodes.actions)
    )
    wide = replace(episodes, present=present, observations=observations, actions=actions)
    narrow, padded = (imagined(jax.random.key(7), each, 3, 0.5).kept for each in (episodes, wide))
    np.testing.assert_array_equal(narrow, padded[:, :5])


def test_every_number_of_teammates_is_equally_likely_to_be_left(episodes):
    many = jax.tree.map(lambda part: jnp.concatenate([part] * 100), episodes)
    left = np.asarray(imagined(jax.random.key(2), many, 3, 1.0).kept).sum(axis=-1).ravel()
    np.testing.assert_allclose(np.bincount(left) / left.size, 1 / 4, atol=0.04)
    assert np.asarray(imagined(jax.random.key(2), many, 3, 0.0).kept).all()


def log(*chances):
    return jnp.log(jnp.array(chances) + 1e-30)


@pytest.mark.parametrize(
    ("by_bit", "nats"),
    [
        pytest.param(((1.0, 0.0), (0.0, 1.0)), np.log(2), id="says a bit"),
        pytest.param(((0.3, 0.7), (0.3, 0.7)), 0.0, id="says nothing"),
        pytest.param(
            ((0.9, 0.1), (0.1, 0.9)), np.log(2) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1), id="says it loosely"
        ),
        pytest.param(((1.0, 0.0), (0.5, 0.5)), 0.75 * np.log(4 / 3), id="half of it"),
    ],
)
def test_nats_are_the_mutual_information_of_policies_with_known_answers(by_bit, nats):
    """Of an action and a fair bit, where the reference is the policy's mean over it."""
    usual = log(*np.mean(by_bit, axis=0))
    # Utilities that lead from the reference to this policy, at a price of 1.
    told = [SoftPolicy.of(log(*chances) - usual, usual, jnp.asarray(1.0)) for chances in by_bit]
    for chances, one in zip(by_bit, told, strict=True):
        np.testing.assert_allclose(one.chances, chances, atol=1e-6)
    np.testing.assert_allclose(np.mean([one.information for one in told]), nats, atol=1e-6)


def test_what_is_forbidden_is_no_part_of_policy_or_nats():
    allowed = jnp.array([True, False, True])
    made = SoftPolicy.of(jnp.array([0.0, 9.0, 1.0]), jnp.array([1.0, 9.0, 0.0]), jnp.asarray(1.0), allowed)
    np.testing.assert_allclose(made.chances, [0.5, 0, 0.5], atol=1e-6)
    p = np.exp(1) / (1 + np.exp(1))
    np.testing.assert_allclose(made.information, -0.5 * np.log(4 * p * (1 - p)), atol=1e-6)


def test_a_task_that_declares_no_split_is_refused_in_one_sentence():
    with pytest.raises(BadInput, match="does not say which numbers of a view tell of teammates"):
        ALGORITHM.check(EXPERIMENT, ActionReward(3))


def test_memories_of_play_are_refused_because_both_actors_remember_unlike_things():
    remembers = replace(EXPERIMENT, algorithm=replace(EXPERIMENT.algorithm, stored_memory=True))
    with pytest.raises(BadInput, match="burn in instead"):
        ALGORITHM.check(remembers, TASK)


def same(one, other):
    return all(map(partial(np.array_equal, equal_nan=True), jax.tree.leaves(one), jax.tree.leaves(other)))
