"""Critics of actions: their equations a second time, and what must hold for any team."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.methods import METHODS
from pc3d.networks.action_critics import TwinCritic, each_of
from pc3d.networks.build import build, refuse_mismatch
from pc3d.networks.critics import TeamView
from pc3d.system.errors import BadInput
from pc3d.tasks.spread.world import Spread
from tests import off_policy_equations as equations
from tests.small import active_team, random_team, small_experiment

SLOTS, TEAM, ACTIONS, TOLERANCE = 6, 4, 5, 1e-5
KINDS = ["maddpg", "masac", "pc3d-maddpg", "pc3d-masac"]  # MATD3's critics are MADDPG's, twice
SETS = ["pc3d-maddpg", "pc3d-masac"]
ALTERNATIVES = ["masac", "pc3d-masac"]


def critic_of(method, *, state=False):
    experiment = small_experiment(method)
    critic = replace(experiment.critic, global_state=state, team_size_feature=True)
    networks = build(jax.random.key(0), replace(experiment, critic=critic), Spread(10))
    # Biases begin at zero, which would hide mistakes.
    return jax.tree.map(lambda leaf: leaf * 1.5 + 0.05, each_of(networks.critic)[0])


def some_actions(key, count):
    return jax.nn.one_hot(jax.random.randint(jax.random.key(key), (count,), 0, ACTIONS), ACTIONS)


def padded(key=1, team=TEAM, slots=SLOTS):
    return random_team(key, slots, 16), some_actions(key, slots), active_team(team, slots)


def view_of(observations, actions, present=None, state=None):
    present = jnp.ones(len(observations), bool) if present is None else present
    return TeamView(observations, present, None, state, actions=actions)


@pytest.mark.parametrize("state", [False, True], ids=["no state", "global state"])
@pytest.mark.parametrize("team", [1, TEAM])
@pytest.mark.parametrize("method", KINDS)
def test_a_critic_of_actions_is_its_equation(method, team, state):
    critic, (observations, actions, present) = critic_of(method, state=state), padded(team=team)
    states = random_team(5, 70) if state else None
    made = critic(view_of(observations, actions, present, states))
    parts = (np.asarray(part, np.float64)[:team] for part in (observations, actions))
    known = np.asarray(states, np.float64) if state else ()
    expected = equations.CRITICS[method](critic, *parts, known)
    made = made[:team] if method in ALTERNATIVES else made
    np.testing.assert_allclose(made, expected, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("garbage", [0.0, 1e30, jnp.nan, jnp.inf])
@pytest.mark.parametrize("method", KINDS)
def test_what_stands_in_empty_slots_changes_no_bit_of_value_or_slope(method, garbage):
    critic, (observations, actions, present) = critic_of(method), padded()

    def value(actions, observations):
        said = critic(view_of(observations, actions, present))
        return jnp.sum(jnp.where(present[:, None], said, 0)) if method in ALTERNATIVES else said

    both = jax.jit(jax.value_and_grad(value))
    dirty = [jnp.where(present[:, None], part, garbage) for part in (actions, observations)]
    for clean, other in zip(both(actions, observations), both(*dirty), strict=True):
        np.testing.assert_array_equal(clean, other)


@pytest.mark.parametrize("method", KINDS)
def test_the_width_of_the_padding_does_not_matter(method):
    critic, (observations, actions, present) = critic_of(method), padded()
    narrow = critic(view_of(observations[:TEAM], actions[:TEAM]))
    wide = critic(view_of(observations, actions, present))
    np.testing.assert_allclose(
        narrow, wide[:TEAM] if method in ALTERNATIVES else wide, rtol=TOLERANCE, atol=1e-6
    )


@pytest.mark.parametrize("method", KINDS)
def test_a_set_of_agents_has_no_order_but_a_padded_list_has(method):
    critic, order = critic_of(method), jnp.array([2, 0, 3, 1])
    observations, actions, _ = padded(team=TEAM, slots=TEAM)
    one, other = (
        critic(view_of(observations, actions)),
        critic(view_of(observations[order], actions[order])),
    )
    moved = one[order] if method in ALTERNATIVES else one
    assert bool(jnp.allclose(moved, other, atol=TOLERANCE)) == (method in SETS)


@pytest.mark.parametrize("method", KINDS)
def test_actions_matter_but_an_agents_own_never_to_its_alternatives(method):
    critic, (observations, actions, _) = critic_of(method), padded(team=TEAM, slots=TEAM)
    changed = actions.at[0].set(jnp.roll(actions[0], 1))
    one, other = (np.asarray(critic(view_of(observations, each))) for each in (actions, changed))
    if method not in ALTERNATIVES:
        assert one != other
        return
    np.testing.assert_array_equal(one[0], other[0])
    assert (np.abs(one[1:] - other[1:]).max(axis=-1) > 0).all()


def test_twins_share_nothing_say_the_lower_and_the_first_one_teaches():
    critic = build(jax.random.key(0), small_experiment("pc3d-matd3"), Spread(10)).critic
    assert isinstance(critic, TwinCritic)
    view = view_of(*padded()[:2])
    first, second = (one(view) for one in (critic.first, critic.second))
    assert first != second
    assert critic(view) == min(first, second)
    assert critic.held_teacher is critic.first.teacher
    assert not np.array_equal(critic.first.teacher.queries, critic.second.teacher.queries)


@pytest.mark.parametrize(
    ("method", "critic", "sentence"),
    [
        ("maddpg", "joint", "maddpg needs a critic of joint actions, and joint is a critic of observations"),
        ("masac", "joint-action", "masac needs a critic of each agent's alternatives"),
        ("mappo", "joint-mixer", "ppo needs a critic of observations, and joint-mixer is a mixer"),
        ("qmix", "joint", "q needs a mixer, and joint is a critic of observations"),
        ("mappo", "joint-alternatives", "ppo needs a critic of observations"),
        ("qmix", "token-action", "q needs a mixer, and token-action is a critic of joint actions"),
    ],
)
def test_an_algorithm_refuses_a_central_module_of_another_kind(method, critic, sentence):
    with pytest.raises(BadInput, match=sentence):
        refuse_mismatch(replace(METHODS[method], critic=critic))
