"""Numbers that are not finite, wherever they come from: training stops within one update."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from pc3d.learners import round as rounds
from pc3d.learners.ppo import descent
from pc3d.learners.ppo.algorithm import Ppo
from pc3d.learners.registry import algorithm_of
from pc3d.presets.paper import specialist
from pc3d.runs.metrics import read_lines
from pc3d.runs.run_folder import RunFolder
from pc3d.runs.train import Habits, train
from pc3d.system.errors import Diverged
from tests.faults.folders import arena_of, experiment_for

EXPERIMENT = specialist(experiment_for("pc3d", episodes=15), "4")
ARENA = arena_of(EXPERIMENT)
HABITS = Habits(checkpoint_every=3, tensorboard=False)
PLACES = {
    "observation": "an observation",
    "reward": "a reward",
    "gradient": "a gradient",
    "parameter": "a parameter",
    "optimiser": "the optimiser's state",
}
VALUES = (math.nan, math.inf, -math.inf)


@dataclass
class Poison:
    """What is put where, before which update; nothing before that update comes."""

    place: str = ""
    value: float = 0.0
    share: float = 0.0
    """How far into the array, from 0 to 1."""
    update: int = -1

    def dose(self, place: str, update: int) -> np.ndarray:
        hit = place == self.place and update == self.update
        return np.array([self.value if hit else 0.0, self.share], np.float32)


POISON = Poison()


def poisoned(array: jax.Array, dose: jax.Array) -> jax.Array:
    """The array with the dose added to one of its numbers."""
    value, share = dose
    flat = array.reshape(-1)
    chosen = jnp.minimum((share * flat.size).astype(int), flat.size - 1)
    return flat.at[chosen].add(value).reshape(array.shape)


@pytest.fixture(scope="module")
def poisonable() -> Iterator[None]:
    """Training with places for poison in observations, rewards and gradients, compiled once for all."""
    learn, shorten, in_one_program = Ppo.learn, descent.shortened, rounds._in_one_program.__wrapped__
    doses: dict[str, jax.Array] = {}  # while the program is compiled, stand-ins for what it will be given

    def learn_from_poisoned(self, experiment, task, learner, episodes, key):
        tainted = replace_fields(
            episodes,
            observations=poisoned(episodes.observations, doses["observation"]),
            rewards=poisoned(episodes.rewards, doses["reward"]),
        )
        return learn(self, experiment, task, learner, tainted, key)

    def shorten_poisoned(recipe, gradient, longest, actor_parameters):
        return shorten(recipe, poisoned(gradient, doses["gradient"]), longest, actor_parameters)

    @partial(jax.jit, static_argnums=(0, 1))
    def with_doses(experiment, worlds, learner, batch, given):
        doses.update(given)
        return in_one_program(experiment, worlds, learner, batch)

    def round_from_poisoned(experiment, worlds, learner, batch):
        given = {
            name: POISON.dose(name, int(learner.update)) for name in ("observation", "reward", "gradient")
        }
        return with_doses(experiment, worlds, with_poison(learner), batch, given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ppo, "learn", learn_from_poisoned)
        patch.setattr(descent, "shortened", shorten_poisoned)
        patch.setattr(rounds, "_in_one_program", round_from_poisoned)
        yield


def replace_fields(tree, **fields):
    return eqx.tree_at(lambda one: [getattr(one, name) for name in fields], tree, list(fields.values()))


def with_poison(learner):
    """The learner with the dose in its parameters or in its optimiser's state, if it is for them."""
    update = int(learner.update)
    parameters, unravel = ravel_pytree(learner.networks)
    learner = replace_fields(learner, networks=unravel(poisoned_here("parameter", parameters, update)))
    adam = learner.adam
    for name in ("mu", "nu"):
        adam = adam._replace(**{name: poisoned_here(f"optimiser {name}", getattr(adam, name), update)})
    return replace_fields(learner, adam=adam)


def poisoned_here(place, array, update):
    value, share = POISON.dose(place, update)
    return array.at[min(int(share * array.size), array.size - 1)].add(value)


@pytest.fixture
def poison() -> Iterator[Poison]:
    yield POISON
    POISON.place = ""


@pytest.mark.parametrize("place", PLACES)
def test_training_stops_within_one_update(place, poisonable, poison, tmp_path, count, figure):
    chance = random.Random(place)
    injected = count(20, 3)
    for number in range(injected):
        run = RunFolder(tmp_path / str(number))
        poison.place = chance.choice(["optimiser mu", "optimiser nu"]) if place == "optimiser" else place
        poison.value, poison.share = VALUES[number % len(VALUES)], chance.random()
        poison.update = chance.randrange(1, EXPERIMENT.updates)
        with pytest.raises(Diverged, match=f"at update {poison.update + 1}: .* not finite") as stopped:
            train(EXPERIMENT, ARENA, run.path, HABITS)
        assert stopped.value.exit_code == 3
        assert [line["update"] for line in read_lines(run.metrics)] == list(range(1, poison.update + 1))
        assert not run.done
        assert_good_checkpoint(run, poison.update)
    figure(
        f"not-a-number or infinity in {PLACES[place]}",
        injected,
        "training stops with exit code 3 in the same update; the last good checkpoint is kept",
        "0 updates later",
    )


def assert_good_checkpoint(run: RunFolder, update: int) -> None:
    fresh = algorithm_of(EXPERIMENT).fresh(EXPERIMENT, ARENA.game)
    found = run.newest_checkpoint(fresh, EXPERIMENT)
    assert found is not None
    learner, _ = found
    assert int(learner.update) == update
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(learner))


def test_without_the_poison_the_stopped_run_goes_on_to_its_end(poisonable, poison, tmp_path):
    poison.place, poison.value, poison.update = "gradient", math.nan, 2
    with pytest.raises(Diverged):
        train(EXPERIMENT, ARENA, tmp_path / "stopped", HABITS)
    poison.place = ""
    stopped, whole = (train(EXPERIMENT, ARENA, tmp_path / name, HABITS) for name in ("stopped", "whole"))
    assert stopped.final.read_bytes() == whole.final.read_bytes()


def test_every_kind_of_number_in_a_checkpoint_is_looked_at(poisonable, tmp_path):
    """Also what is neither a parameter nor optimiser state: the averaged teacher and the value scale."""
    fresh = algorithm_of(EXPERIMENT).fresh(EXPERIMENT, ARENA.game)
    for number, name in enumerate(("averaged_teacher", "value_scale")):
        sick = replace_fields(
            fresh, **{name: jax.tree.map(lambda leaf: leaf * jnp.nan, getattr(fresh, name))}
        )
        run = RunFolder(tmp_path / str(number))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Ppo, "fresh", lambda *_, sick=sick: sick)
            with pytest.raises(Diverged, match="at update 1"):
                train(replace(EXPERIMENT, seed=number), ARENA, run.path, HABITS)
