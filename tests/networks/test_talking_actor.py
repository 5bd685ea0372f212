"""The rounds of messages against a plain transcription, and what must not matter for them."""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pc3d.experiment.execution import LinkLoss
from pc3d.networks.seating import NOBODY, Seating
from pc3d.networks.talking_actor import Rounds
from pc3d.play.links import links_kept

WIDTH, SLOTS, ROUNDS = 6, 5, 3


@lru_cache
def rounds():
    made = Rounds(jax.random.key(1), WIDTH, "relu", ROUNDS)
    # Biases that are not zero, so that they count.
    return jax.tree.map(lambda leaf: leaf + 0.1 * jax.random.normal(jax.random.key(2), leaf.shape), made)


@lru_cache
def team():
    features = np.asarray(jax.random.normal(jax.random.key(3), (SLOTS, WIDTH)))
    sees = np.asarray(jax.random.bernoulli(jax.random.key(4), 0.5, (SLOTS, SLOTS)))
    present = np.array([True, True, True, True, False])
    links = (sees | np.eye(SLOTS, dtype=bool)) & present & present[:, None]
    assert 5 < links.sum() < 15
    return features, links


compiled = jax.jit(lambda net, *parts: net(*parts))


def talk(features, links):
    return compiled(rounds(), jnp.asarray(features), jnp.asarray(links))


def transcribed(features, links):
    """Agent by agent, as the original's page of equations would have it."""
    query, key, value, update = (
        (np.asarray(layer.weight), np.asarray(layer.bias))
        for layer in (rounds().to_query, rounds().to_key, rounds().to_value, rounds().update)
    )
    states = {agent: features[agent] for agent in range(SLOTS) if links[agent, agent]}
    for _ in range(ROUNDS):
        following = {}
        for agent, own in states.items():
            heard = [other for other in states if links[agent, other]]
            wish = own @ query[0] + query[1]
            scores = np.array([wish @ (states[other] @ key[0] + key[1]) for other in heard]) / WIDTH**0.5
            weights = np.exp(scores) / np.exp(scores).sum()
            message = sum(
                weight * (states[other] @ value[0] + value[1])
                for weight, other in zip(weights, heard, strict=True)
            )
            following[agent] = np.maximum(np.concatenate([own, message]) @ update[0] + update[1], 0)
        states = following
    return states


def test_rounds_are_those_of_the_equations():
    features, links = team()
    said, to_self = talk(features, links)
    for agent, expected in transcribed(features, links).items():
        np.testing.assert_allclose(said[agent], expected, atol=1e-5)
    assert ((to_self[:4] > 0) & (to_self[:4] <= 1 + 1e-6)).all()


def test_the_order_of_agents_does_not_matter_and_empty_slots_hold_anything():
    features, links = team()
    said, _ = talk(features, links)
    order = np.array([3, 1, 4, 0, 2])
    moved, _ = talk(features[order], links[order][:, order])
    np.testing.assert_allclose(moved, said[order], atol=1e-5)
    spoilt = np.where(np.diag(links)[:, None], features, np.nan)
    np.testing.assert_array_equal(talk(spoilt, links)[0][:4], said[:4])


def test_who_is_not_heard_changes_nothing_until_somebody_passes_it_on():
    features, _ = team()
    chain = np.eye(SLOTS, dtype=bool)
    chain[0, 1] = chain[1, 2] = chain[2, 3] = True  # 0 hears 1 hears 2 hears 3
    far, beyond = (np.array(features) for _ in range(2))
    far[3] += 1
    beyond[4] += 1
    said, passed_on, unheard = (talk(one, chain)[0][0] for one in (features, far, beyond))
    assert np.abs(passed_on - said).max() > 1e-3  # three rounds reach three links away
    np.testing.assert_array_equal(unheard, said)


def test_teams_in_rows_say_the_same_with_the_same_gradients():
    features, links = (np.stack([part, part[::-1]]) for part in team())
    links = links.copy()
    links[1] = links[1][:, ::-1]
    there = np.diagonal(links, axis1=-2, axis2=-1)
    places = np.append(np.flatnonzero(there), NOBODY)  # and a row that is not filled
    seats = np.zeros((2, SLOTS), int)
    seats[there] = np.arange(there.sum())
    rows = np.append(features[there], np.full((1, WIDTH), 7.0), axis=0)
    seating, weights = Seating(jnp.asarray(seats), jnp.asarray(places)), jnp.arange(WIDTH) + 1.0

    @jax.jit
    def by_rows(net, rows):
        said, _ = net(rows, jnp.asarray(links), seating)
        return jnp.sum(said[:-1] * weights), said[:-1]

    @jax.jit
    def by_teams(net, features):
        said, _ = net(features, jnp.asarray(links))
        return jnp.sum(jnp.where(there[..., None], said, 0) * weights), said[there]

    packed, said_in_rows = jax.grad(by_rows, argnums=(0, 1), has_aux=True)(rounds(), rows)
    padded, said_in_teams = jax.grad(by_teams, argnums=(0, 1), has_aux=True)(rounds(), features)
    np.testing.assert_allclose(said_in_rows, said_in_teams, atol=1e-5)
    jax.tree.map(lambda one, other: np.testing.assert_allclose(one, other, atol=1e-4), packed[0], padded[0])
    np.testing.assert_allclose(packed[1][:-1], padded[1][there], atol=1e-4)


@pytest.fixture(scope="module")
def lost():
    keys = jax.random.split(jax.random.key(5), 40)
    wide, narrow = (links_kept(LinkLoss(0.15, 0.1), keys, slots, 50) for slots in (6, 4))
    return np.asarray(wide), np.asarray(narrow)


def test_links_are_lost_in_both_directions_and_by_no_more_than_their_share(lost):
    kept, narrow = lost
    np.testing.assert_array_equal(kept, np.swapaxes(kept, -1, -2))
    assert kept[..., np.eye(6, dtype=bool)].all()
    others = kept[..., ~np.eye(6, dtype=bool)]
    assert abs(others.mean() - 0.85**2) < 0.03
    np.testing.assert_array_equal(kept[..., :4, :4], narrow)
    changed = (kept[1:] != kept[:-1]).any(axis=(-1, -2)).mean()
    assert 0.05 < changed < 0.12  # a new draw with a chance of a tenth, which need not differ


def test_with_all_links_lost_everybody_is_alone_and_with_none_nothing_is_drawn():
    keys = jax.random.split(jax.random.key(5), 2)
    assert links_kept(LinkLoss(), keys, 3, 4) is None
    np.testing.assert_array_equal(
        links_kept(LinkLoss(1.0), keys, 3, 4), np.broadcast_to(np.eye(3), (4, 2, 3, 3))
    )
