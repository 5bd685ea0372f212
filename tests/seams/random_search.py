"""A second algorithm, in one file: random search keeps the actor whose episodes returned most."""

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from pc3d.experiment.algorithm_settings import AlgorithmSettings, ReplaySettings
from pc3d.experiment.methods import Method
from pc3d.learners.algorithm import Algorithm, Learner, Lesson
from pc3d.networks.actor import Actor
from pc3d.networks.build import PolicyNetworks, build
from pc3d.play.actor_team import ActorTeam
from pc3d.play.randomness import Purpose, stream


@dataclass(frozen=True)
class SearchSettings(AlgorithmSettings):
    section: ClassVar[str] = "search"
    headlines: ClassVar[dict[str, dict[str, str]]] = {"learner": {"best": "best return"}}
    reach: float = 0.1
    episodes: int = 4
    remembered: int = 0

    @property
    def episodes_between_updates(self) -> int:
        return self.episodes

    @property
    def replay(self) -> ReplaySettings | None:
        return ReplaySettings(self.remembered, drawn=self.episodes) if self.remembered else None


class Found(Learner):
    best: Actor
    tried: Actor
    best_return: jax.Array


class RandomSearch(Algorithm):
    def fresh(self, experiment, task):
        actor = build(stream(experiment.seed, Purpose.INITIALISE), experiment, task).actor
        return Found(jnp.zeros((), jnp.int32), actor, actor, jnp.asarray(-1e9))

    def team(self, experiment, learner):
        return ActorTeam(learner.tried)

    def learn(self, experiment, task, learner, episodes, key):
        returned = jnp.mean(episodes.total_reward)
        better, reach = returned > learner.best_return, experiment.algorithm.reach
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), learner.tried, learner.best)
        leaves, shape = jax.tree.flatten(best)
        keys = jax.random.split(key, len(leaves))
        moved = [
            leaf + reach * jax.random.normal(key, leaf.shape) for leaf, key in zip(leaves, keys, strict=True)
        ]
        most = jnp.maximum(returned, learner.best_return)
        learner = Found(learner.update + 1, best, jax.tree.unflatten(shape, moved), most)
        return learner, Lesson({"best": most, "returned": returned}, Health(jnp.isfinite(returned)))

    def policy(self, learner):
        return PolicyNetworks(learner.best, None)


class Health(eqx.Module):
    returns: jax.Array


ALGORITHMS = {SearchSettings: RandomSearch()}
METHODS = {
    "search": Method("Random search", "keeps the best", "#000000", algorithm=SearchSettings, critic="local")
}
