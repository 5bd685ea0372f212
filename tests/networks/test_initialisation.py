"""The first weights: orthogonal with the gains that the docs name, or as PyTorch makes a layer."""

from dataclasses import replace

import equinox as eqx
import jax
import numpy as np
import pytest

from pc3d.experiment.methods import METHODS
from pc3d.networks.build import build
from pc3d.networks.layers import Dense
from pc3d.tasks.spread.world import Spread
from tests.small import small_experiment

SMALL = {
    **{"conditioning.head": 0.01, "to_reliance": 0.01, "to_modulation": 0.1, "hypernetwork.layers.1": 0.01},
    **{"to_rows.layers.layers.1": 0.1, "to_weights.layers.layers.1": 0.1, "to_offset": 0.1},
}


def layers_of(method, initialisation):
    """Every dense layer by its path."""
    experiment = small_experiment(method)
    recipe = replace(experiment.recipe, initialisation=initialisation)
    networks = build(jax.random.key(0), replace(experiment, recipe=recipe), Spread(10))
    parts = jax.tree_util.tree_leaves_with_path(networks, is_leaf=lambda part: isinstance(part, Dense))
    return {
        jax.tree_util.keystr(path, simple=True, separator="."): part
        for path, part in parts
        if isinstance(part, Dense)
    }


def gain_of(path, widths, method):
    if METHODS[method].algorithm.values_actions and path.endswith("conditioning.head"):
        return 1.0  # values of actions, not chances
    if ".attention." in f".{path}" and ".to_" in path:
        return 1.0
    for end, gain in SMALL.items():
        if path.endswith(end):
            return gain
    hidden = ".layers." in path and not path.endswith(f".{widths[path.rpartition('.')[0]] - 1}")
    activated = (
        path.startswith("actor.encoder")
        or "to_deed" in path
        or path.endswith(("rounds.update", "attention.encoder", "actor.listening"))
    )
    return 2**0.5 if hidden or activated else 1.0


@pytest.mark.parametrize("method", list(METHODS))
def test_orthogonal_weights_have_the_named_gains(method):
    layers = layers_of(method, "orthogonal")
    names = [path.rpartition(".")[0] for path in layers]
    widths = {name: names.count(name) for name in names}
    for path, layer in layers.items():
        weight = np.asarray(layer.weight)
        square = weight @ weight.T if weight.shape[0] < weight.shape[1] else weight.T @ weight
        np.testing.assert_allclose(
            square, gain_of(path, widths, method) ** 2 * np.eye(len(square)), atol=1e-5
        )
        mixes = path.endswith(("to_rows.layers.layers.1", "to_weights.layers.layers.1"))
        np.testing.assert_allclose(layer.bias, 6**-0.5 if mixes else 0)  # of a mixer 6 wide


@pytest.mark.parametrize("method", list(METHODS))
def test_uniform_layers_fill_their_range_and_share_no_draw(method):
    draws = []
    for layer in layers_of(method, "uniform").values():
        numbers = np.concatenate([np.ravel(layer.weight), layer.bias]) * layer.weight.shape[0] ** 0.5
        assert np.abs(numbers).max() <= 1
        assert np.abs(layer.bias).min() > 0
        draws.append(numbers)
    everything = np.concatenate(draws)
    assert len(np.unique(everything)) > 0.99 * len(everything)
    assert abs(everything.mean()) < 0.05
    assert everything.std() == pytest.approx(3**-0.5, rel=0.05)  # what a uniform draw within ±1 has


def test_only_dense_layers_are_drawn_anew():
    experiment = small_experiment("pc3d")
    uniform = replace(experiment, recipe=replace(experiment.recipe, initialisation="uniform"))
    one, other = (build(jax.random.key(0), each, Spread(10)) for each in (experiment, uniform))
    assert eqx.tree_equal(one.critic.teacher.queries, other.critic.teacher.queries)
    assert not eqx.tree_equal(one.critic.teacher.encoder, other.critic.teacher.encoder)
