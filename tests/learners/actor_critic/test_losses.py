"""The losses of actor–critics: their equations, what may reach which parameters, and neutral padding."""

from dataclasses import replace
from functools import lru_cache, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.learners import pieces
from pc3d.learners.actor_critic.descent import minibatch_gradient
from pc3d.learners.actor_critic.joint_action import JointAction
from pc3d.learners.actor_critic.losses import losses
from pc3d.learners.actor_critic.sampling import gumbel_noise
from pc3d.learners.actor_critic.scene import Drawn, Given, Scene
from pc3d.learners.experience import Counts
from pc3d.learners.registry import algorithm_of
from pc3d.networks.action_critics import each_of
from tests import off_policy_equations as equations
from tests import paper_equations as paper
from tests.learners.played import CENTER, DEVIATION, SCALE, SIZES, TASK, largest, learn, played, with_garbage
from tests.small import OFF_POLICY_METHODS, one_of_each_kind

TEMPERATURE = 0.3
SOFT = ("masac", "pc3d-masac")
WITH_CONTEXT = ("pc3d-maddpg", "pc3d-matd3", "pc3d-masac")


def given_of(method, learner):
    temperature = jnp.asarray(TEMPERATURE) if method in SOFT else None
    return Given(learner.slow, SCALE, temperature, roster_changes=False)


def drawn_of(episodes):
    return Drawn(episodes, gumbel_noise(jax.random.key(3), episodes, TASK.action_count))


@partial(jax.jit, static_argnums=0)
def parts_of(experiment, learner, drawn):
    scene = Scene.of(drawn, Counts.of(drawn.episodes), given_of(experiment.method, learner))
    return losses(experiment, learner.networks, scene, acts=True)


@partial(jax.jit, static_argnums=(0, 1))
def gradient_of(term, experiment, learner, drawn):
    scene = Scene.of(drawn, Counts.of(drawn.episodes), given_of(experiment.method, learner))

    def loss(networks):
        critics, actor = losses(experiment, networks, scene, acts=True)[1]
        return getattr(critics if hasattr(critics, term) else actor, term)

    return jax.grad(loss)(learner.networks)


class Told:
    """What one episode's agents say, do and see, in NumPy."""

    def __init__(self, learner, drawn, episode):
        episodes, size = drawn.episodes, SIZES[episode]
        self.size, self.episodes, self.episode = size, episodes, episode
        self.seen = np.asarray(episodes.observations[episode, :, :size], np.float64)
        self.noise = np.asarray(drawn.noise[episode, :, :size], np.float64)
        self.online, self.slow = (
            [paper.said_by_actor(networks.actor, self.seen[:, agent]) for agent in range(size)]
            for networks in (learner.networks, learner.slow)
        )

    def logits(self, time, *, slow=False):
        return [said[time] for said, _ in (self.slow if slow else self.online)]

    def taken(self, time):
        return [int(action) for action in self.episodes.actions[self.episode, time, : self.size]]

    def chosen(self, time, *, slow=False, noisy=True):
        """What everybody would do at a moment."""
        rows = zip(self.logits(time, slow=slow), self.noise[time], strict=True)
        return [equations.chosen_by(logits, noise if noisy else 0) for logits, noise in rows]

    def reward(self, time):
        return float(self.episodes.rewards[self.episode, time]) / self.size


def done(chosen):
    return np.array([equations.deed_of(action, TASK.action_count) for action in chosen])


def lowest(method, critic, seen, chosen):
    return np.min([equations.CRITICS[method](each, seen, done(chosen)) for each in each_of(critic)], axis=0)


def squared_error(value, target):
    return (value - (target - CENTER) / DEVIATION) ** 2


def of_joint_action(method, experiment, learner, told, time):
    """The errors of all critics at one step, and what the actor lowers."""
    smoothed = experiment.algorithm.target_actions == "sampled"
    after = told.chosen(time + 1, slow=True, noisy=smoothed)
    following = CENTER + DEVIATION * lowest(method, learner.slow.critic, told.seen[time + 1], after)
    target = told.reward(time) + experiment.algorithm.discount * following
    critics = each_of(learner.networks.critic)
    value = equations.CRITICS[method]
    seen, taken = told.seen[time], done(told.taken(time))
    errors = sum(squared_error(value(critic, seen, taken), target) for critic in critics)
    return [errors], [-value(critics[0], seen, done(told.chosen(time)))]


def of_alternatives(method, experiment, learner, told, time):
    """The same for every agent."""
    after = lowest(method, learner.slow.critic, told.seen[time + 1], told.chosen(time + 1))
    critics, seen = each_of(learner.networks.critic), told.seen[time]
    tables = [equations.CRITICS[method](critic, seen, done(told.taken(time))) for critic in critics]
    now = lowest(method, learner.networks.critic, seen, told.chosen(time))
    errors, policy = [], []
    for agent, action in enumerate(told.taken(time)):
        logits = told.logits(time + 1)[agent]
        following = CENTER + DEVIATION * equations.soft_value(logits, after[agent], TEMPERATURE)
        target = told.reward(time) + experiment.algorithm.discount * following
        errors.append(sum(squared_error(table[agent][action], target) for table in tables))
        policy.append(-equations.soft_value(told.logits(time)[agent], now[agent], TEMPERATURE))
    return errors, policy


@pytest.mark.parametrize("method", one_of_each_kind(OFF_POLICY_METHODS))
def test_the_losses_are_those_of_the_equations(method):
    experiment, learner, episodes = played(method)
    drawn, step = drawn_of(episodes), of_alternatives if method in SOFT else of_joint_action
    errors, policy, large, entropies, apart = [], [], [], [], []
    for episode in range(len(SIZES)):
        told = Told(learner, drawn, episode)
        for time in range(TASK.horizon):
            found = step(method, experiment, learner, told, time)
            errors += found[0]
            policy += found[1]
            large += [np.mean(logits**2) for logits in told.logits(time)]
            entropies += [equations.entropy(logits) for logits in told.logits(time)]
            apart += distances(experiment, learner, told, time) if method in WITH_CONTEXT else []
    total, (critics, actor) = parts_of(experiment, learner, drawn)
    penalty = 0.0 if method in SOFT else experiment.algorithm.logit_penalty * np.mean(large)
    np.testing.assert_allclose(critics.value, np.mean(errors), rtol=1e-5)
    np.testing.assert_allclose(actor.policy, np.mean(policy) + penalty, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(actor.entropy, np.mean(entropies), rtol=1e-5)
    np.testing.assert_allclose(actor.distillation, np.mean(apart) if apart else 0, rtol=1e-5)
    weight = experiment.distillation.weight if apart else 0
    expected = critics.value + actor.policy + weight * actor.distillation
    np.testing.assert_allclose(total, expected, rtol=1e-5)


def distances(experiment, learner, told, time):
    """Of students' contexts from the slow teacher's."""
    teacher = each_of(learner.slow.critic)[0].teacher
    encodings = paper.encodings(teacher, told.seen[time])
    tokens, recipe = paper.tokens(teacher.queries, encodings), experiment.recipe
    return [
        paper.huber(
            contexts[time] - paper.teacher_context(encoding, tokens),
            recipe.huber_delta,
            recipe.huber_reduction,
        )
        for encoding, (_, contexts) in zip(encodings, told.online, strict=True)
    ]


@pytest.mark.parametrize("method", ["pc3d-maddpg", "pc3d-masac"])
def test_no_loss_reaches_what_is_not_its_own(method):
    """Critics and teacher learn from values, the actor and its gate from critics, contexts from both."""
    experiment, learner, episodes = played(method)
    value, policy, distillation = (
        gradient_of(term, experiment, learner, drawn_of(episodes))
        for term in ("value", "policy", "distillation")
    )
    assert largest(value.actor) == 0
    assert all(largest(critic.teacher.queries) > 0 for critic in each_of(value.critic))
    assert largest(policy.critic) == 0
    assert largest(policy.actor.encoder) > 0
    assert largest(policy.actor.conditioning.student.to_reliance) > 0
    assert largest(distillation.critic) == 0
    assert largest(distillation.actor.conditioning.student.to_context) > 0
    assert largest(distillation.actor.conditioning.student.to_reliance) == 0


@pytest.mark.parametrize("method", one_of_each_kind(WITH_CONTEXT))
def test_contexts_do_not_change_when_actions_do(method):
    experiment, learner, episodes = played(method)
    others = replace(episodes, actions=(episodes.actions + 1) % TASK.action_count)
    (_, one), (_, other) = (parts_of(experiment, learner, drawn_of(each)) for each in (episodes, others))
    assert one[1].distillation == other[1].distillation
    assert one[0].value != other[0].value
    health = [learn(experiment, learner, each)[1].scalars for each in (episodes, others)]
    for name in ("alignment", "personal_share", "attention_over_agents", "effective_tokens"):
        assert health[0][name] == health[1][name]


@pytest.mark.parametrize("method", one_of_each_kind(OFF_POLICY_METHODS))
def test_what_stands_in_padded_slots_changes_no_bit_of_an_update(method):
    experiment, learner, episodes = played(method)
    both = (learn(experiment, learner, each) for each in (episodes, with_garbage(episodes)))
    (clean, lesson), (other, other_lesson) = both
    for one, two in zip(
        jax.tree.leaves((clean, lesson)), jax.tree.leaves((other, other_lesson)), strict=True
    ):
        np.testing.assert_array_equal(one, two)
    assert all(vars(lesson.finite).values())


@pytest.mark.parametrize("method", ["maddpg", "masac"])
def test_steps_that_do_not_count_change_no_bit_of_the_loss(method):
    experiment, learner, episodes = played(method)
    cut = replace(episodes, played=episodes.played & (jnp.arange(TASK.horizon) < 9))
    dirty = replace(cut, rewards=jnp.where(cut.played, cut.rewards, jnp.nan))
    both = (jax.tree.leaves(parts_of(experiment, learner, drawn_of(each))) for each in (cut, dirty))
    for one, other in zip(*both, strict=True):
        assert one == other


def test_one_value_for_all_has_the_slope_of_each_agents_with_the_others_held():
    experiment, learner, episodes = played("maddpg")
    drawn = drawn_of(episodes)
    scene = Scene.of(drawn, Counts.of(episodes), given_of("maddpg", learner))
    critic, free = learner.networks.critic, replace(experiment.algorithm, logit_penalty=0.0)
    plain = replace(experiment, algorithm=free)
    logits = jax.random.normal(jax.random.key(9), drawn.noise.shape)

    def loss(own, others, agent):
        mine = (jnp.arange(own.shape[2]) == agent)[:, None]
        return JointAction().policy_loss(plain, critic, scene, jnp.where(mine, own, others))

    together = jax.grad(lambda own: JointAction().policy_loss(plain, critic, scene, own))(logits)
    apart = sum(
        jax.grad(loss)(logits, jax.lax.stop_gradient(logits), agent) for agent in range(logits.shape[2])
    )
    np.testing.assert_allclose(together, apart, atol=1e-6)
    assert largest(together) > 0


@pytest.mark.parametrize("method", one_of_each_kind(["pc3d-matd3", "pc3d-masac"]))
def test_gradients_of_pieces_add_up_to_that_of_the_minibatch(monkeypatch, method):
    experiment, learner, episodes = played(method)
    given, drawn, found = given_of(method, learner), drawn_of(episodes), []
    for row_steps in (10**9, 26 * 5):
        monkeypatch.setattr(pieces, "ROW_STEPS", row_steps)
        make = partial(minibatch_gradient, experiment, learner.networks, given, drawn, acts=True)
        found.append(jax.jit(lambda make=make: make())())
    for one, other in zip(*map(jax.tree.leaves, found), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@lru_cache
def after_one_turn(method):
    """What an update of one step of the actor leaves, from a learner whose slow copy is elsewhere."""
    experiment, learner, episodes = played(method)
    steps = experiment.algorithm.actor_every
    algorithm = replace(experiment.algorithm, gradient_steps=steps, batch_size=4 // steps, target_rate=0.25)
    experiment = replace(experiment, algorithm=algorithm)
    return experiment, learner, learn(experiment, learner, episodes)


@pytest.mark.parametrize("method", one_of_each_kind(["pc3d-maddpg", "pc3d-masac"]))
def test_the_slow_copy_follows_by_its_rate_and_is_the_averaged_teacher(method):
    experiment, learner, (after, _) = after_one_turn(method)
    expected = jax.tree.map(lambda old, new: old + 0.25 * (new - old), learner.slow, after.networks)
    for made, wanted in zip(jax.tree.leaves(after.slow), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(made, wanted, atol=1e-6)
    policy = algorithm_of(experiment).policy(after)
    assert eqx.tree_equal(policy.teacher, each_of(after.slow.critic)[0].teacher)
    assert eqx.tree_equal(policy.actor, after.networks.actor)


@pytest.mark.parametrize("method", ["maddpg", "matd3", "masac"])
def test_matd3s_actor_takes_one_step_for_two_of_its_critics(method):
    _, _, (after, _) = after_one_turn(method)
    steps = (int(after.critic_adam.count), int(after.actor_adam.count))
    assert steps == ((2, 1) if method == "matd3" else (1, 1))


@pytest.mark.parametrize(("wanted", "rises"), [(0.0, False), (1.0, True)])
def test_the_temperature_rises_while_policies_are_too_sure_and_falls_while_they_are_not(wanted, rises):
    experiment, learner, episodes = played("masac")
    settings = replace(experiment.algorithm, target_entropy=wanted, gradient_steps=1, batch_size=4)
    sure = eqx.tree_at(
        lambda one: one.networks.actor.conditioning.head.bias, learner, jnp.array([5.0, 0, 0, 0, 0])
    )
    after, lesson = learn(replace(experiment, algorithm=settings), sure, episodes)
    change = float(after.log_temperature - learner.log_temperature)
    assert (change > 0) == rises
    entropy = float(lesson.scalars["entropy"])
    expected = settings.temperature_rate * (wanted * np.log(TASK.action_count) - entropy)
    assert change == pytest.approx(expected, rel=1e-3)
    assert lesson.scalars["temperature"] == pytest.approx(settings.temperature, rel=1e-5)
