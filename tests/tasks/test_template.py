"""The paper's environment template, and the game it becomes."""

import jax
import jax.numpy as jnp
import pytest

from pc3d.system.errors import BadInput
from pc3d.tasks.registry import paper_of
from pc3d.tasks.spread.world import Spread
from pc3d.tasks.template import EnvironmentTemplate

TEMPLATE = EnvironmentTemplate(Spread(), paper_of("spread").rosters, 0.99)


def test_a_template_becomes_the_game_of_one_roster():
    assert TEMPLATE.instance(3).task == Spread(slots=3)
    with pytest.raises(BadInput, match="not admissible"):
        TEMPLATE.instance(11)


def test_everybody_of_the_roster_is_there_in_its_game():
    game, key = TEMPLATE.instance(3), jax.random.key(0)
    state, _ = game.step(key, game.reset(key), jnp.zeros(3, jnp.int32))
    assert game.task.present(state).tolist() == [True] * 3
    assert int(state.time) == 1
