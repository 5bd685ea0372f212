"""Level-based foraging by lbforaging itself, behind the port's interface."""

from functools import reduce
from operator import add
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, Int

from pc3d.tasks.foraging.field import SIGHT
from pc3d.tasks.foraging.placing import HIGHEST_LEVEL, with_levels
from pc3d.tasks.foraging.rules import FARTHEST_SIGHT, LEVEL, SEES, STRONGEST
from pc3d.tasks.foraging.sight import SEEN_FOODS, SEEN_TEAMMATES
from pc3d.tasks.foraging.world import Foraging, ForagingState
from pc3d.tasks.original_world import OriginalWorld
from pc3d.tasks.task import Outcome

OWN_LEVEL = 2  # its place in our view
AGENT_LEVELS = (OWN_LEVEL, *range(3 + 3 * SEEN_FOODS + 2, 3 + 3 * (SEEN_FOODS + SEEN_TEAMMATES), 3))


class OriginalForaging(OriginalWorld[ForagingState]):
    """The package keeps its foods in a grid: which of the port's slots each one fills is remembered here."""

    package = "lbforaging"
    task: Foraging

    def _made(self) -> Any:
        from lbforaging.foraging import ForagingEnv

        self._food_count = self.task.food_count
        return ForagingEnv(
            players=self.team_size,
            min_player_level=1,
            max_player_level=STRONGEST if self.task.unlike else HIGHEST_LEVEL,
            min_food_level=1,
            max_food_level=None,
            field_size=(self.task.field.side,) * 2,
            max_num_food=self._food_count,
            sight=SIGHT,
            max_episode_steps=self.task.horizon,
            force_coop=True,
        )

    def reset(self, seed: int) -> None:
        # The package would keep the new players off the cells where the last episode ended.
        for player in self._environment.players:
            player.position = None
        able = self._drawn(seed)
        self._views, _ = self._environment.reset(seed=seed)
        if able is not None:
            # The package shuffles levels: whoever has one gets the sight that was drawn with it.
            order = np.argsort([player.level for player in self._environment.players], kind="stable")
            self._able[order] = able[np.argsort(able[:, LEVEL], kind="stable")]
            self._views = self._seen()
        found = np.argwhere(self._environment.field)
        self._food_positions = np.zeros((self.task.field.foods, 2), np.int32)
        self._food_positions[: len(found)] = found

    def _drawn(self, seed: int) -> Float[np.ndarray, "agent 2"] | None:
        """What unlike agents are able to do in the next episode; the package is told their levels."""
        drawn = self.task.drawn_capabilities(jax.random.key(seed), self.team_size)
        if drawn is None:
            return None
        usual = np.random.default_rng(seed).integers(1, HIGHEST_LEVEL + 1, self.team_size)
        able, levels = map(np.asarray, with_levels(drawn, usual))
        self._environment.min_player_level = self._environment.max_player_level = levels
        self._able = np.array(able, np.float64)
        return able

    def _seen(self) -> Any:
        """The package's views; of unlike agents, each as the package makes it for such a sight."""
        if not self.task.unlike:
            return self._environment._make_gym_obs()
        by_sight = {}
        for sight in sorted(set(self._able[:, SEES])):
            self._environment.sight = int(sight)
            by_sight[sight] = self._environment._make_gym_obs()
        return [by_sight[sight][slot] for slot, sight in enumerate(self._able[:, SEES])]

    def load(self, state: ForagingState) -> None:
        environment = self._environment
        if state.capabilities is not None:
            self._able = np.array(state.capabilities, np.float64)
        self._food_positions = np.array(state.food_positions, np.int32)
        environment.field = np.zeros(environment.field_size, np.int32)
        for (row, column), level in zip(self._food_positions, np.asarray(state.food_levels), strict=True):
            environment.field[row, column] += level
        positions, levels = np.asarray(state.positions).tolist(), np.asarray(state.levels).tolist()
        for slot, player in enumerate(environment.players):
            player.setup(tuple(positions[slot]), levels[slot], environment.field_size)
            player.reward = 0
        environment._food_spawned = np.int64(state.spawned_level)
        environment.current_step = int(state.time)
        environment._game_over = False
        environment._gen_valid_moves()  # the next step judges its actions by these
        self._views = self._seen()

    def read(self) -> ForagingState:
        environment = self._environment
        rows, columns = self._food_positions.T
        return ForagingState(
            team_size=np.int32(self.team_size),
            time=np.int32(environment.current_step),
            positions=np.array([player.position for player in environment.players], np.int32),
            levels=np.array([player.level for player in environment.players], np.int32),
            food_positions=self._food_positions.copy(),
            food_levels=environment.field[rows, columns],
            spawned_level=np.int32(environment._food_spawned),
            capabilities=self._able.copy() if self.task.unlike else None,
        )

    def observe(self) -> Float[np.ndarray, "agent observation"]:
        views = np.stack([encode_native_view(view, self._food_count) for view in self._views])
        if not self.task.unlike:
            return views
        seen = self.task.cast.seen
        if seen != "visible":
            views[:, [place for place in AGENT_LEVELS if seen == "none" or place != OWN_LEVEL]] = 0
        sights = [self._sights_seen(slot) for slot in range(self.team_size)]
        return np.concatenate([views, sights], axis=-1)

    def _sights_seen(self, slot: int) -> Float[np.ndarray, " number"]:
        """The agent's own and those of the teammates in its view, in the same order, from 0 to 1."""
        environment, sights = self._environment, (self._able[:, SEES] - 1) / (FARTHEST_SIGHT - 1)
        own, sight = environment.players[slot].position, int(self._able[slot, SEES])
        near = []
        for other, player in enumerate(environment.players):
            place = environment._transform_to_neighborhood(own, sight, player.position)
            if other != slot and min(place) >= 0 and max(place) <= 2 * sight:
                row, column = np.subtract(player.position, own)
                near.append((row**2 + column**2, row, column, player.level, other))
        shown = [slot, *(other for *_, other in sorted(near)[:SEEN_TEAMMATES])]
        places = {"none": 0, "own": 1, "visible": 1 + SEEN_TEAMMATES}[self.task.cast.seen]
        return np.pad(sights[shown], (0, 1 + SEEN_TEAMMATES - len(shown)))[:places]

    def step(self, actions: Int[np.ndarray, " agent"]) -> Outcome:
        level_before = self._environment.field.sum()
        self._views, rewards, over, _, _ = self._environment.step([int(action) for action in actions])
        if self.task.unlike:
            self._views = self._seen()
        level_after = self._environment.field.sum()
        spawned = max(int(self._environment._food_spawned), 1)
        return Outcome(
            # From Python 3.12 on, the built-in sum would correct the rounding that the port repeats.
            reward=np.float64(reduce(add, rewards)),
            terminated=np.bool_(level_after == 0),
            # The package calls a spent time limit the end of the game.
            truncated=np.bool_(over and level_after > 0),
            measures={"food_fraction": np.float64((level_before - level_after) / spawned)},
        )


def encode_native_view(view: Float[np.ndarray, " native"], food_count: int) -> Float[np.ndarray, "27"]:
    """Our view of one agent, from nothing but the package's own (foods, the agent itself, teammates)."""
    triples = view.reshape(-1, 3)
    foods, own, teammates = triples[:food_count], triples[food_count], triples[food_count + 1 :]
    parts = [own, _nearest_first(foods, own, SEEN_FOODS), _nearest_first(teammates, own, SEEN_TEAMMATES)]
    return np.concatenate(parts).astype(np.float64)


def _nearest_first(
    triples: Float[np.ndarray, "entity 3"], own: Float[np.ndarray, "3"], count: int
) -> Float[np.ndarray, " number"]:
    entities = [tuple(triple - [*own[:2], 0]) for triple in triples if triple[2] > 0]
    entities.sort(key=lambda entity: (entity[0] ** 2 + entity[1] ** 2, *entity))
    nearest = np.zeros((count, 3))
    for place, entity in enumerate(entities[:count]):
        nearest[place] = entity
    return nearest.ravel()
