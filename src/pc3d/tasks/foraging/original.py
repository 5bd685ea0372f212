"""Level-based foraging by lbforaging itself, behind the port's interface."""

from functools import reduce
from operator import add
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from pc3d.tasks.foraging.field import SIGHT
from pc3d.tasks.foraging.placing import HIGHEST_LEVEL
from pc3d.tasks.foraging.world import SEEN_FOODS, SEEN_TEAMMATES, Foraging, ForagingState
from pc3d.tasks.original_world import OriginalWorld
from pc3d.tasks.task import Outcome


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
            max_player_level=HIGHEST_LEVEL,
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
        self._views, _ = self._environment.reset(seed=seed)
        found = np.argwhere(self._environment.field)
        self._food_positions = np.zeros((self.task.field.foods, 2), np.int32)
        self._food_positions[: len(found)] = found

    def load(self, state: ForagingState) -> None:
        environment = self._environment
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
        self._views = environment._make_gym_obs()

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
        )

    def observe(self) -> Float[np.ndarray, "agent 27"]:
        return np.stack([encode_native_view(view, self._food_count) for view in self._views])

    def step(self, actions: Int[np.ndarray, " agent"]) -> Outcome:
        level_before = self._environment.field.sum()
        self._views, rewards, over, _, _ = self._environment.step([int(action) for action in actions])
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
