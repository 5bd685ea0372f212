"""Networks that attend to entities: their equations a second time, and what must hold of any team."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.networks.build import build
from pc3d.networks.critics import TeamView
from pc3d.networks.entity_groups import Groups
from pc3d.networks.entity_mixer import ImaginedUtilities
from pc3d.tasks.spread.world import Spread
from tests import entity_equations as equations
from tests.small import active_team, random_team, small_experiment

FEATURES, ROWS, SLOTS, TEAM, OTHERS = 6, 7, 5, 3, 4
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def networks():
    made = build(jax.random.key(0), small_experiment("a-qmix"), Spread(10))
    # Small gains would hide mistakes.
    return jax.tree.map(lambda leaf: leaf * 2 - 0.05, made)


def packed(features, numbers):
    return jnp.concatenate([features, jnp.asarray(numbers, float)[..., None]], axis=-1).ravel()


SIGHT = random_team(0, ROWS, FEATURES)
SEEN = jnp.array([2, 1, -4, 3, -1, 0, 0])


def test_an_encoder_is_its_equation_and_reads_no_number(networks):
    encoder = networks.actor.encoder
    entities = np.asarray(SIGHT, np.float64)
    expected = equations.encoded(encoder, entities[0], entities[:5])
    made = encoder(packed(SIGHT, SEEN))
    np.testing.assert_allclose(made, expected, rtol=TOLERANCE, atol=TOLERANCE)
    np.testing.assert_array_equal(made, encoder(packed(SIGHT, jnp.where(SEEN == 0, 0, 9))))


def test_others_have_no_order_and_what_is_not_there_no_meaning(networks):
    encoder, order = networks.actor.encoder, jnp.array([0, 4, 5, 2, 6, 1, 3])
    one, other = encoder(packed(SIGHT, SEEN)), encoder(packed(SIGHT[order], SEEN[order]))
    np.testing.assert_allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE)
    for garbage in (1e30, jnp.nan):
        dirty = jnp.where(SEEN[:, None] == 0, garbage, SIGHT)
        np.testing.assert_array_equal(one, encoder(packed(dirty, SEEN)))


def test_who_attends_to_nothing_attends_to_itself(networks):
    encoder, own = networks.actor.encoder, np.asarray(SIGHT[0], np.float64)
    made = encoder(packed(SIGHT, jnp.zeros(ROWS)))
    np.testing.assert_allclose(made, equations.encoded(encoder, own, [own]), rtol=TOLERANCE, atol=TOLERANCE)


def team(key=1, size=TEAM, slots=SLOTS, spare=0):
    """Features of all entities with their numbers, and utilities; of those who are there, the same anyhow."""
    agents, others = random_team(key, 8, FEATURES)[:slots], random_team(key + 1, OTHERS, FEATURES)
    present = active_team(size, slots)
    numbers = jnp.concatenate([jnp.where(present, jnp.arange(1, slots + 1), 0), -jnp.arange(1, OTHERS + 1)])
    features = jnp.where(numbers[:, None] != 0, jnp.concatenate([agents, others]), 0)
    features, numbers = jnp.pad(features, ((0, spare), (0, 0))), jnp.pad(numbers, (0, spare))
    return features, numbers, 3 * random_team(key + 2, 8)[:slots], present


def view_of(features, numbers, utilities, present):
    nothing = jnp.zeros((*present.shape, 1))
    return TeamView(nothing, present, None, packed(features, numbers), utilities=utilities)


def test_a_mixer_is_its_equation(networks):
    features, numbers, utilities, present = team()
    there = np.asarray(features, np.float64)[np.asarray(numbers) != 0]
    expected = equations.of_entities(networks.critic, there[:TEAM], there, np.asarray(utilities)[:TEAM])
    made = networks.critic(view_of(features, numbers, utilities, present))
    np.testing.assert_allclose(made, expected, rtol=TOLERANCE, atol=TOLERANCE)


def test_no_utility_that_rises_lowers_the_value_and_an_absent_one_is_nothing(networks):
    def value(utilities, features, numbers, present):
        return networks.critic(view_of(features, numbers, utilities, present))

    cases = [team(key, size=1 + key % SLOTS) for key in range(30)]
    features, numbers, utilities, present = (jnp.stack(parts) for parts in zip(*cases, strict=True))
    found = np.asarray(jax.jit(jax.vmap(jax.grad(value)))(utilities, features, numbers, present))
    assert (found >= 0).all()
    assert (found[~np.asarray(present)] == 0).all()
    assert (found[np.asarray(present)] > 0).mean() > 0.99


def test_neither_padding_nor_an_order_changes_the_value(networks):
    mixer = networks.critic
    one = mixer(view_of(*team()))
    # Means are over who is there, never over slots: they would differ by 3/5 and 3/8.
    for slots, spare in ((3, 0), (8, 0), (5, 6)):
        np.testing.assert_allclose(one, mixer(view_of(*team(slots=slots, spare=spare))), rtol=TOLERANCE)
    features, numbers, utilities, present = team()
    for garbage in (1e30, jnp.nan):
        dirty = jnp.where(numbers[:, None] == 0, garbage, features), numbers
        said = jnp.where(present, utilities, garbage)
        np.testing.assert_array_equal(one, mixer(view_of(*dirty, said, present)))
    agents, things = jnp.array([2, 0, 1, 3, 4]), jnp.array([2, 0, 1, 3, 4, 8, 6, 5, 7])
    moved = mixer(view_of(features[things], numbers[things], utilities[agents], present))
    np.testing.assert_allclose(one, moved, rtol=TOLERANCE)


def in_an_episode(view):
    """With an axis for episodes, and one for moments."""
    return jax.tree.map(lambda part: part[None, None], view)


GROUPS = Groups(jnp.array([[True, False, True, False, True]]), jnp.array([[True, False, False, True]]))
ALL_IN_ONE = jax.tree.map(jnp.ones_like, GROUPS)


def imagined(mixer, case, groups, within, across, sees_across):
    utilities = ImaginedUtilities(*(part[None, None] for part in (within, across, sees_across)))
    return mixer.imagined(in_an_episode(view_of(*case)), groups, utilities)[0, 0]


def test_what_is_imagined_is_its_equation(networks):
    case, across = team(), random_team(9, SLOTS)
    features, numbers, within, _ = case
    sees_across = jnp.array([True, False, True, True, True])
    made = imagined(networks.critic, case, GROUPS, within, across, sees_across)
    there = np.asarray(features, np.float64)[np.asarray(numbers) != 0]
    of_agents = np.asarray(GROUPS.agents[0])[:TEAM]
    groups = (of_agents, [*of_agents, *np.asarray(GROUPS.others[0])])
    parts = (np.asarray(part, np.float64)[:TEAM] for part in (within, across, sees_across))
    expected = equations.imagined(networks.critic, there[:TEAM], there, groups, *parts)
    np.testing.assert_allclose(made, expected, rtol=TOLERANCE, atol=TOLERANCE)


def test_with_one_group_the_imagined_value_is_the_teams_to_the_bit(networks):
    case, nobody = team(), jnp.zeros(SLOTS, bool)
    value = networks.critic(in_an_episode(view_of(*case)))[0, 0]
    across = jnp.full(SLOTS, jnp.nan)  # nobody sees anything there
    assert value == imagined(networks.critic, case, ALL_IN_ONE, case[2], across, nobody)


def test_groups_are_drawn_by_number_with_a_share_of_their_own_in_every_episode():
    keys = jax.random.split(jax.random.key(0), 400)
    drawn, wider = Groups.drawn(keys, 4, 6), Groups.drawn(keys, 6, 9)
    np.testing.assert_array_equal(drawn.agents, wider.agents[:, :4])
    np.testing.assert_array_equal(drawn.others, wider.others[:, :6])
    shares = np.concatenate([drawn.agents, drawn.others], axis=1).mean(axis=1)
    assert abs(shares.mean() - 0.5) < 0.05
    # With p uniform, any count of ten is as likely as another; with p fixed at a half they would crowd.
    assert (shares < 0.2).mean() > 0.1
    assert (shares > 0.8).mean() > 0.1
