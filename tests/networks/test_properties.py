"""What must hold for any team: order and padding do not matter, and an actor knows only its own history."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pc3d.networks.build import build, build_student
from pc3d.networks.conditioning import HeadShape, PlainHead
from pc3d.networks.critics import TeamView
from pc3d.tasks.spread.world import Spread
from tests.small import FLAT_METHODS, active_team, one_of_each_kind, random_team, small_experiment

SLOTS = 6
CENTRAL = ["mappo", "pic", "pc3d"]


@pytest.fixture(scope="module")
def networks():
    return {name: build(jax.random.key(0), small_experiment(name), Spread(10)) for name in FLAT_METHODS}


@pytest.mark.parametrize("method", ["pic", "pc3d"])
@given(order=st.permutations(range(4)), key=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_a_set_critic_values_every_order_of_the_team_alike(networks, method, order, key):
    observations, active = random_team(key, 4, 16), jnp.ones(4, bool)
    critic = networks[method].critic
    one = critic(TeamView(observations, active))
    other = critic(TeamView(observations[jnp.asarray(order)], active))
    np.testing.assert_allclose(one, other, atol=1e-5)


@given(order=st.permutations(range(4)), key=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_teacher_contexts_move_with_their_agents(networks, order, key):
    observations, active, order = random_team(key, 4, 16), jnp.ones(4, bool), jnp.asarray(order)
    teacher = networks["pc3d"].critic.teacher
    contexts = teacher.read(observations, active).contexts
    np.testing.assert_allclose(teacher.read(observations[order], active).contexts, contexts[order], atol=1e-5)


@pytest.mark.parametrize("method", CENTRAL)
@pytest.mark.parametrize("garbage", [0.0, 1e30, jnp.nan, jnp.inf])
def test_inactive_agents_do_not_change_a_bit_of_the_value(networks, method, garbage):
    observations, active = random_team(0, SLOTS, 16), active_team(3, SLOTS)
    critic = networks[method].critic
    other = jnp.where(active[:, None], observations, garbage)
    assert critic(TeamView(observations, active)) == critic(TeamView(other, active))


@pytest.mark.parametrize("garbage", [1e30, jnp.nan])
def test_inactive_agents_do_not_change_a_bit_of_the_contexts(networks, garbage):
    observations, active = random_team(0, SLOTS, 16), active_team(3, SLOTS)
    teacher = networks["pc3d"].critic.teacher
    contexts = teacher.read(jnp.where(active[:, None], observations, garbage), active).contexts[:3]
    np.testing.assert_array_equal(contexts, teacher.read(observations, active).contexts[:3])


@pytest.mark.parametrize("method", CENTRAL)
def test_the_width_of_the_padding_does_not_matter(networks, method):
    observations, critic = random_team(0, 3, 16), networks[method].critic
    wide = jnp.pad(observations, ((0, 5), (0, 0)))
    one = critic(TeamView(observations, jnp.ones(3, bool)))
    np.testing.assert_allclose(one, critic(TeamView(wide, active_team(3, 8))), atol=1e-6)


def deployed(networks, method):
    """What acts in the end: the actor, or what its student leaves of it."""
    if networks.insight is None:
        return networks.actor
    student = build_student(jax.random.key(0), small_experiment(method), Spread(10))
    return networks.insight.policy(networks.actor, student)


@pytest.mark.parametrize("method", one_of_each_kind(FLAT_METHODS))
def test_an_actor_uses_nothing_but_its_own_history(networks, method):
    actor = deployed(networks[method], method)
    observations, others = random_team(0, 2, 5, SLOTS, 16), random_team(1, 2, 5, SLOTS, 16)
    changed = others.at[:, :, 0].set(observations[:, :, 0])
    one, other = (actor.conditioning(actor.over_episodes(seen)).logits for seen in (observations, changed))
    np.testing.assert_array_equal(one[:, :, 0], other[:, :, 0])
    assert not np.array_equal(one[:, :, 1], other[:, :, 1])


def test_with_the_gate_off_the_logits_are_those_of_an_unconditioned_actor(networks):
    actor, features = networks["gate-off"].actor, random_team(0, 7, 10)
    plain = PlainHead(jax.random.key(0), HeadShape(10, 5))
    plain = jax.tree.unflatten(jax.tree.structure(plain), jax.tree.leaves(actor.conditioning.head))
    np.testing.assert_array_equal(actor.conditioning(features).logits, plain(features).logits)
    assert float(jnp.max(actor.conditioning(features).gate)) == 0
    assert float(jnp.min(networks["gate-on"].actor.conditioning(features).gate)) == 1


def test_the_global_state_reaches_the_value_and_nothing_else():
    from dataclasses import replace

    experiment = small_experiment("pc3d")
    experiment = replace(experiment, critic=replace(experiment.critic, global_state=True))
    critic = build(jax.random.key(0), experiment, Spread(10)).critic
    observations, active = random_team(0, SLOTS, 16), active_team(3, SLOTS)
    one, other = (critic(TeamView(observations, active, None, random_team(key, 70))) for key in (1, 2))
    assert one != other
