"""Level-based foraging: a team collects food that no agent can lift alone (Foraging-2s-10x10, cooperative).

Equal to lbforaging 2.0.0, its oddities included: two agents may end in one cell, and close to the top or
left border an agent sees others from further away. `pc3d parity lbf` shows it.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num, PRNGKeyArray

from pc3d.experiment.kinds import Capability
from pc3d.tasks.arrays import Amount, AnyArray, Count
from pc3d.tasks.capability_view import able_by_name, scaled
from pc3d.tasks.described import LARGEST_TEAM
from pc3d.tasks.entities import EntityView
from pc3d.tasks.foraging.entities import foraging_entities
from pc3d.tasks.foraging.field import (
    FOODS_BY_TEAM_SIZE,
    REFERENCE_TEAM,
    Field,
    field_of,
    food_counts,
)
from pc3d.tasks.foraging.placing import (
    FOOD_APART,
    HIGHEST_LEVEL,
    lifted_by_weakest,
    lifted_by_weakest_of_any_level,
    marked,
    place_agents,
    place_foods,
    with_levels,
)
from pc3d.tasks.foraging.rules import CAPABILITIES, HORIZON, SEES
from pc3d.tasks.foraging.sight import (
    SEEN_FOODS,
    SEEN_TEAMMATES,
    Observers,
    Placed,
    able_teammates,
    nearest_foods,
    nearest_teammates,
    own_place,
)
from pc3d.tasks.free_cells import cells_of_newcomers, chosen_cell
from pc3d.tasks.loops import by_blocks, for_each_marked, one_by_one
from pc3d.tasks.split import Split
from pc3d.tasks.task import ObservationPart, Outcome, Task, WorldState, padded_rows, scalar

LIFTERS = 3  # whom the lightest food that can be needs: the original's rule
NONE, NORTH, SOUTH, WEST, EAST, LOAD = range(6)


# Which numbers of a view are not levels of agents, or not those of teammates: 1, else 0.
LEVELS_OF_FOOD_AND_OWN = np.array([1] * (3 + 3 * SEEN_FOODS) + [1, 1, 0] * SEEN_TEAMMATES, np.int32)
LEVELS_OF_FOOD = LEVELS_OF_FOOD_AND_OWN * (np.arange(LEVELS_OF_FOOD_AND_OWN.size) != 2)


class ForagingState(WorldState):
    """Positions are (row, column) from the top left. A food of level 0 is gone, or never was."""

    positions: Int[AnyArray, "agent 2"]
    levels: Int[AnyArray, " agent"]
    food_positions: Int[AnyArray, "food 2"]
    food_levels: Int[AnyArray, " food"]
    spawned_level: Int[AnyArray, ""]  # the levels of all foods at the start, summed


@dataclass(frozen=True)
class Foraging(Task[ForagingState]):
    """The view is of the nearest entities within sight, so that it is as wide for every team.

    Foods and teammates come nearest first (by straight distance, then row, column and level), each as its
    offset from the agent and its level; all zero where there are fewer.
    """

    slots: int = 8
    horizon: int = HORIZON
    respawn: bool = False

    name: ClassVar[str] = "lbf"
    action_names: ClassVar[tuple[str, ...]] = ("none", "north", "south", "west", "east", "load")
    observation_layout: ClassVar[tuple[ObservationPart, ...]] = (
        ObservationPart("own row and column in the sight window (2 unless near the top or left border)", 2),
        ObservationPart("own level", 1),
        ObservationPart("four nearest visible foods, (row offset, column offset, level)", 3 * SEEN_FOODS),
        ObservationPart(
            "four nearest visible teammates, (row offset, column offset, level)", 3 * SEEN_TEAMMATES
        ),
    )
    measure_names: ClassVar[tuple[str, ...]] = ("food_fraction",)
    smallest_team: ClassVar[int] = min(FOODS_BY_TEAM_SIZE)
    largest_team: ClassVar[int] = max(FOODS_BY_TEAM_SIZE)
    reference_team: ClassVar[int] = REFERENCE_TEAM
    fewest_present: ClassVar[int] = LIFTERS
    capabilities: ClassVar[tuple[Capability, ...]] = CAPABILITIES
    seen_teammates: ClassVar[int] = SEEN_TEAMMATES

    @property
    def field(self) -> Field:
        return field_of(self.growth)

    @property
    def food_count(self) -> int:
        """How many foods there are for a team that fills all slots."""
        counts = food_counts(self.field)
        return int(counts[min(self.slots, len(counts) - 1)])

    @property
    def most_visible(self) -> int:
        return 1 + SEEN_TEAMMATES + SEEN_FOODS

    @property
    def split(self) -> Split:
        foods_end = 3 + 3 * SEEN_FOODS
        return self.with_abilities(Split.at_end(foods_end, SEEN_TEAMMATES, 3, nearest_first=True))

    @property
    def most_agents(self) -> int:
        if self.world == "scaled":
            return LARGEST_TEAM
        return len(self.field.cells) - self.field.foods

    @property
    def room(self) -> str:
        if self.world == "scaled":
            return ""
        side = self.field.side
        return f" (one cell each for agents and {self.field.foods} foods on {side} × {side})"

    @property
    def return_definition(self) -> str:
        whole = "as much food as lay there at first" if self.respawn else "all food"
        return f"rewards summed over agents and steps (1 when {whole} is collected), divided by the team size"

    def reported_return(self, total_reward: Amount, team_size: Count) -> Any:
        return total_reward / team_size

    def reset(self, key: PRNGKeyArray, team_size: int | Int[Array, ""]) -> ForagingState:
        cell_key, level_key = jax.random.split(key)
        present = jnp.arange(self.slots) < team_size
        # JAX numbers the draws, so that an agent's level does not depend on the number of slots.
        levels = jax.random.randint(level_key, (self.slots,), 1, HIGHEST_LEVEL + 1, jnp.int32)
        able = self.drawn_capabilities(key, team_size)
        if able is not None:
            able, levels = with_levels(able, levels)
        priorities = jax.random.bits(cell_key, (len(self.field.cells),), jnp.uint32)
        positions = place_agents(self.field, priorities, self.slots)
        food_positions, found = place_foods(self.field, priorities, positions, present)
        there = self._meant(team_size) & found
        food_levels = jnp.where(there, self._food_level(levels, team_size), 0)
        return ForagingState(
            team_size=scalar(team_size),
            time=scalar(0),
            positions=positions,
            levels=levels,
            food_positions=jnp.where(there[:, None], food_positions, 0),
            food_levels=food_levels,
            spawned_level=jnp.sum(food_levels, dtype=jnp.int32),
            capabilities=able,
        )

    def step(
        self, key: PRNGKeyArray, state: ForagingState, actions: Int[Array, " agent"]
    ) -> tuple[ForagingState, Outcome]:
        present = self.present(state)
        # Who loads stays in place, so it is all one that the original moves everybody before it loads.
        loading = present & (actions == LOAD)
        strength = _strength(state, loading)
        eaten = _eaten(state, strength)
        moved = replace(
            state,
            time=state.time + 1,
            positions=_move(self.field, state, actions, present),
            food_levels=jnp.where(eaten, 0, state.food_levels),
        )
        finished = jnp.asarray(False) if self.respawn else jnp.all(moved.food_levels == 0)
        collected = jnp.sum(jnp.where(eaten, state.food_levels, 0)).astype(float)
        if self.respawn:
            moved = self._regrown(key, moved)
        return moved, Outcome(
            reward=_team_reward(state, loading, eaten, strength),
            terminated=finished,
            truncated=(moved.time >= self.horizon) & ~finished,
            # All foods are of one level, so that their levels count them.
            measures={"food_fraction": collected / jnp.maximum(state.spawned_level, 1)},
        )

    def join(self, key: PRNGKeyArray, state: ForagingState, joining: Bool[Array, " agent"]) -> ForagingState:
        """On any free cell; every slot has had a level of its own since the start."""
        free = self._free(state)
        cells = jnp.asarray(self.field.cells)[cells_of_newcomers(key, joining, free)]
        return replace(state, positions=jnp.where(joining[:, None], cells, state.positions))

    def _free(self, state: ForagingState) -> Bool[Array, " cell"]:
        """Cells with neither an agent nor food."""
        taken = jnp.concatenate([state.positions, state.food_positions])
        real = jnp.concatenate([self.present(state), state.food_levels > 0])
        return ~marked(self.field, taken, real)

    def _meant(self, team_size: int | Int[Array, ""]) -> Bool[Array, " food"]:
        """Which foods a team of this size has at the start, if they find a place."""
        counts = jnp.asarray(food_counts(self.field))
        return jnp.arange(self.field.foods) < counts[jnp.minimum(team_size, len(counts) - 1)]

    def _food_level(self, levels: Int[Array, " agent"], team_size: int | Int[Array, ""]) -> Int[Array, ""]:
        """What the three weakest can lift, of all who may ever be there: then any three who are can, too."""
        pools = [self.roster.limits(max(size, 1), LIFTERS).slots for size in range(self.slots + 1)]
        pool = jnp.arange(self.slots) < jnp.asarray(pools)[team_size]
        lifted = lifted_by_weakest_of_any_level if self.unlike else lifted_by_weakest
        return lifted(levels, pool, jnp.minimum(LIFTERS, team_size))

    def _regrown(self, key: PRNGKeyArray, state: ForagingState) -> ForagingState:
        """Food that is missing grows again wherever it could have lain at the start."""
        missing = self._meant(state.team_size) & (state.food_levels == 0)
        level = self._food_level(state.levels, state.team_size)
        chances = jax.random.uniform(key, missing.shape)

        def grow(now: ForagingState, food: Int[Array, ""]) -> ForagingState:
            near = jnp.abs(self.field.cells[:, None] - now.food_positions).sum(axis=-1) <= FOOD_APART
            free = self._free(now) & ~jnp.any(near & (now.food_levels > 0), axis=-1) & self.field.inside
            place = jnp.asarray(self.field.cells)[chosen_cell(free, chances[food])]
            return replace(
                now,
                food_positions=now.food_positions.at[food].set(place),
                food_levels=now.food_levels.at[food].set(jnp.where(jnp.any(free), level, 0)),
            )

        return for_each_marked(grow, state, missing)

    def observe(self, state: ForagingState) -> Float[Array, "agent observation"]:
        agents, team, foods = self._sighted(state)
        own = jnp.column_stack([own_place(agents), state.levels])
        seen = by_blocks(
            lambda block: jnp.concatenate(
                [nearest_foods(block, foods), nearest_teammates(block, team)], axis=-1
            ),
            agents,
        )
        view = jnp.concatenate([own, seen], axis=-1)
        if self.unlike:
            view = self._with_capabilities(view, state, agents, team)
        return jnp.where(team.there[:, None], view, 0).astype(float)

    def _sighted(self, state: ForagingState) -> tuple[Observers, Placed, Placed]:
        """Who looks, and at which agents and foods."""
        present, sights = self.present(state), None
        if state.capabilities is not None:
            sights = jnp.asarray(state.capabilities)[:, SEES].astype(jnp.int32)
        return (
            Observers(jnp.arange(self.slots), state.positions, sights),
            Placed(state.positions, state.levels, present),
            Placed(state.food_positions, state.food_levels, state.food_levels > 0),
        )

    def entities(self, state: ForagingState) -> EntityView:
        able = able_by_name(self.capabilities, state.capabilities)
        seen = self.cast.seen if self.unlike else "visible"  # levels of usual agents are in every view
        return foraging_entities(*self._sighted(state), able, seen)

    def _with_capabilities(
        self, view: Int[Array, "agent 27"], state: ForagingState, agents: Observers, team: Placed
    ) -> Num[Array, "agent observation"]:
        """The view with no other levels than may be seen, and with sights."""
        able = scaled(self.capabilities, state.capabilities)
        if self.cast.seen == "visible":
            others = by_blocks(lambda block: able_teammates(block, team, able), agents)
            return jnp.concatenate([view, able, others], axis=-1)
        if self.cast.seen == "own":
            return jnp.concatenate([view * LEVELS_OF_FOOD_AND_OWN, able], axis=-1)
        return view * LEVELS_OF_FOOD

    def global_state(self, state: ForagingState) -> Float[Array, " state"]:
        """Row, column and level of each slot up to the largest team, then of each food; zero if absent."""
        agents = jnp.column_stack([state.positions, state.levels])
        agents = jnp.where(self.present(state)[:, None], agents, 0)
        agents = padded_rows(agents, self.largest_team)
        foods = jnp.column_stack([state.food_positions, state.food_levels])
        foods = jnp.where(state.food_levels[:, None] > 0, foods, 0)
        rows = jnp.concatenate([agents, foods]).ravel().astype(float)
        if not self.unlike:
            return rows
        sights = jnp.where(self.present(state)[:, None], scaled(self.capabilities, state.capabilities), 0)
        return jnp.concatenate([rows, padded_rows(sights, self.largest_team).ravel()])

    def available_actions(self, state: ForagingState) -> Bool[Array, "agent 6"]:
        """The actions the original calls valid; any other counts as none."""
        targets = [_targets(state.positions, move) for move in (NORTH, SOUTH, WEST, EAST)]
        moves = [~_blocked(self.field, state, cells) for cells in targets]
        load = jnp.any(_beside_food(state.positions, state.food_positions) & (state.food_levels > 0), axis=-1)
        available = jnp.stack([jnp.ones_like(load), *moves, load], axis=-1)
        return jnp.where(self.present(state)[:, None], available, jnp.arange(self.action_count) == NONE)

    def hindered(
        self, before: ForagingState, actions: Int[Array, " agent"], after: ForagingState
    ) -> Bool[Array, " agent"]:
        targets = _targets(before.positions, actions)
        leaves = jnp.any(targets != before.positions, axis=-1) & ~_blocked(self.field, before, targets)
        return leaves & jnp.all(after.positions == before.positions, axis=-1) & self.present(before)

    def contributed(
        self, before: ForagingState, actions: Int[Array, " agent"], after: ForagingState
    ) -> Bool[Array, " agent"]:
        """Who was among those that loaded a food."""
        del after
        loading = self.present(before) & (actions == LOAD)
        eaten = _eaten(before, _strength(before, loading))
        beside = by_blocks(
            lambda positions: jnp.any(_beside_food(positions, before.food_positions) & eaten, axis=-1),
            before.positions,
        )
        return loading & beside

    def draw(self, state: ForagingState, *, size: int = 480, show_range: bool = False) -> np.ndarray:
        from pc3d.tasks.foraging.picture import draw_foraging

        positions, levels = self.of_team(state, state.positions, state.levels)
        foods = np.asarray(state.food_positions), np.asarray(state.food_levels)
        side = self.field.side
        return draw_foraging(side, positions, levels, *foods, size=size, show_range=show_range)


def _targets(positions: Int[Array, "agent 2"], actions: int | Int[Array, " agent"]) -> Int[Array, "agent 2"]:
    """Where the actions lead, were nothing in the way."""
    actions = jnp.asarray(actions)[..., None]
    forward = (actions == jnp.asarray([SOUTH, EAST])).astype(jnp.int32)
    back = (actions == jnp.asarray([NORTH, WEST])).astype(jnp.int32)
    return positions + forward - back


def _blocked(field: Field, state: ForagingState, cells: Int[Array, "agent 2"]) -> Bool[Array, " agent"]:
    """Outside or on food. Other agents do not block a cell."""

    def on_food(cells: Int[Array, "agent 2"]) -> Bool[Array, " agent"]:
        same = jnp.all(cells[:, None] == state.food_positions, axis=-1)
        return jnp.any(same & (state.food_levels > 0), axis=-1)

    return jnp.any((cells < 0) | (cells >= field.side), axis=-1) | by_blocks(on_food, cells)


def _beside_food(agents: Int[Array, "agent 2"], foods: Int[Array, "food 2"]) -> Bool[Array, "agent food"]:
    return jnp.sum(jnp.abs(agents[:, None] - foods), axis=-1) == 1


def _strength(state: ForagingState, loading: Bool[Array, " agent"]) -> Int[Array, " food"]:
    """The levels of all who load each food, summed."""

    def of_some(foods: Int[Array, "food 2"]) -> Int[Array, " food"]:
        loads = _beside_food(state.positions, foods) & loading[:, None]
        return jnp.sum(jnp.where(loads, state.levels[:, None], 0), axis=0, dtype=jnp.int32)

    return by_blocks(of_some, state.food_positions)


def _eaten(state: ForagingState, strength: Int[Array, " food"]) -> Bool[Array, " food"]:
    return jnp.asarray(state.food_levels > 0) & (strength >= state.food_levels)


def _move(
    field: Field, state: ForagingState, actions: Int[Array, " agent"], present: Bool[Array, " agent"]
) -> Int[Array, "agent 2"]:
    """All who aim at the same cell stay where they are, even if another has just moved in there."""
    targets = _targets(state.positions, actions)
    targets = jnp.where(_blocked(field, state, targets)[:, None], state.positions, targets)

    def contested(block: tuple[Int[Array, " agent"], Int[Array, "agent 2"]]) -> Bool[Array, " agent"]:
        index, cells = block
        same = jnp.all(cells[:, None] == targets[None, :], axis=-1) & present
        return jnp.any(same & (index[:, None] != jnp.arange(present.size)), axis=-1)

    stays = by_blocks(contested, (jnp.arange(present.size), targets))
    return jnp.where(stays[:, None], state.positions, targets)


def _team_reward(
    state: ForagingState,
    loading: Bool[Array, " agent"],
    eaten: Bool[Array, " food"],
    strength: Int[Array, " food"],
) -> Float[Array, ""]:
    """The original's rewards, summed agent by agent, so that not even a rounding differs.

    Nobody stands beside two foods. Choosing an agent's food before the division keeps XLA from multiplying
    with a food's reciprocal instead.
    """

    def shares(agents: tuple[Int[Array, "agent 2"], Int[Array, " agent"], Bool[Array, " agent"]]) -> Array:
        positions, levels, loading = agents
        collects = _beside_food(positions, state.food_positions) & loading[:, None] & eaten
        mine = jnp.where(collects, levels[:, None] * state.food_levels, 0).sum(axis=-1)
        whole = jnp.where(collects, strength * state.spawned_level, 0).sum(axis=-1)
        return mine.astype(float) / jnp.maximum(whole, 1)

    rewards = by_blocks(shares, (state.positions, state.levels, loading))
    return one_by_one(jnp.add, jnp.zeros(()), rewards)
