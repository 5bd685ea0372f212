"""RWARE: n robots bring requested shelves to the goals and put them back (rware's small warehouse).

Equal to rware 2.0.0 with the reward shared by the team and as many open requests as robots; only where
equally long queues meet does the lowest agent index drive first. `pc3d parity rware` shows it.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pc3d.experiment.kinds import Capability
from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.capability_view import able_by_name, capability_parts, scaled
from pc3d.tasks.described import LARGEST_TEAM
from pc3d.tasks.entities import EntityView
from pc3d.tasks.free_cells import cells_of_newcomers
from pc3d.tasks.loops import entries, for_each_marked
from pc3d.tasks.split import Split
from pc3d.tasks.task import ObservationPart, Outcome, Task, WorldState, padded_rows, scalar, slot_keys
from pc3d.tasks.warehouse.entities import Robots, Shelves, warehouse_entities
from pc3d.tasks.warehouse.floor import (
    LEFT_OF,
    NOTHING,
    NOWHERE,
    RIGHT_OF,
    UP,
    Floor,
    floor_of,
)
from pc3d.tasks.warehouse.requests import deliver, distinct_numbers
from pc3d.tasks.warehouse.rules import CAPABILITIES, HORIZON, SENSOR_RANGE
from pc3d.tasks.warehouse.split import robots_in_cells
from pc3d.tasks.warehouse.traffic import Traffic, resolve
from pc3d.tasks.warehouse.unlike import (
    FURTHER,
    NEIGHBOURS,
    abilities,
    able_neighbours,
    acting,
    further_words,
)

STAY, FORWARD, TURN_LEFT, TURN_RIGHT, TOGGLE_LOAD = range(5)


class WarehouseState(WorldState):
    """A shelf is either carried or stands in a cell; never two in one.

    As many requests are open as there were robots at the start, whoever leaves and joins later.
    """

    cells: Int[AnyArray, " agent"]
    directions: Int[AnyArray, " agent"]
    carried: Int[AnyArray, " agent"]
    standing: Int[AnyArray, " cell"]
    requests: Int[AnyArray, " agent"]
    deliveries: Int[AnyArray, ""]  # so far in this episode


@dataclass(frozen=True)
class Warehouse(Task[WarehouseState]):
    """The team is rewarded with 1 for each requested shelf that stands on a goal at the end of a step."""

    slots: int = 10
    horizon: int = HORIZON

    name: ClassVar[str] = "rware"
    action_names: ClassVar[tuple[str, ...]] = ("stay", "forward", "turn_left", "turn_right", "toggle_load")
    observation_layout: ClassVar[tuple[ObservationPart, ...]] = (
        ObservationPart("own column and row, counted from 0 at the top left", 2),
        ObservationPart("carries a shelf", 1),
        ObservationPart("own direction, one of up, down, left, right", 4),
        ObservationPart("stands on a highway", 1),
        ObservationPart(
            "nine cells around, row by row: robot there, its direction (up if none), shelf there, requested",
            9 * 7,
        ),
    )
    measure_names: ClassVar[tuple[str, ...]] = ("deliveries",)
    smallest_team: ClassVar[int] = 2
    largest_team: ClassVar[int] = 10
    reference_team: ClassVar[int] = 8
    capabilities: ClassVar[tuple[Capability, ...]] = CAPABILITIES
    seen_teammates: ClassVar[int] = NEIGHBOURS

    @property
    def layout(self) -> tuple[ObservationPart, ...]:
        if not self.unlike:
            return self.observation_layout
        more = capability_parts(self.cast.seen, self.capabilities, self.seen_teammates)
        return (*self.observation_layout, FURTHER, *more)

    @property
    def floor(self) -> Floor:
        """A scaled one has a small warehouse for every eight robots."""
        return floor_of(math.ceil(self.growth))

    @property
    def most_visible(self) -> int:
        """A robot and a shelf in every cell of the window."""
        reach = int(SENSOR_RANGE.high if self.unlike else 1)
        return 2 * (2 * reach + 1) ** 2

    @property
    def split(self) -> Split:
        """A robot and its direction, cell by cell; the shelf it carries stays among the task's own things."""
        return self.with_abilities(robots_in_cells(further=self.unlike))

    @property
    def most_agents(self) -> int:
        if self.world == "scaled":
            return LARGEST_TEAM
        return self.floor.shelves - 1  # each robot has a request, and a delivery needs one shelf more

    @property
    def room(self) -> str:
        if self.world == "scaled":
            return ""
        return f" (there are as many requests, and {self.floor.shelves} shelves)"

    @property
    def return_definition(self) -> str:
        return f"number of requested shelves the team delivered in {self.horizon} steps"

    def reset(self, key: PRNGKeyArray, team_size: int | Int[Array, ""]) -> WarehouseState:
        cells, directions, requests = jax.random.split(key, 3)
        free = jnp.asarray(np.flatnonzero(self.floor.inside), jnp.int32)
        return WarehouseState(
            team_size=scalar(team_size),
            time=scalar(0),
            cells=free[distinct_numbers(cells, self.slots, free.size) - 1],
            directions=_random_directions(directions, self.slots),
            carried=jnp.full(self.slots, NOTHING, jnp.int32),
            standing=jnp.asarray(self.floor.all_stored),
            requests=distinct_numbers(requests, self.slots, self.floor.shelves),
            deliveries=scalar(0),
            capabilities=self.drawn_capabilities(key, team_size),
        )

    def step(
        self, key: PRNGKeyArray, state: WarehouseState, actions: Int[Array, " agent"]
    ) -> tuple[WarehouseState, Outcome]:
        state, actions = self._present(state), self._possible(state, actions)
        targets = self._targets(state, actions)
        cells = jnp.where(resolve(state.cells, targets).moves, targets, state.cells)
        carried, standing = _toggle_loads(self.floor, state, actions == TOGGLE_LOAD)
        # In single precision wherever they are compared: a draw in another one is another draw.
        chances = jax.random.uniform(key, (len(self.floor.goals),), jnp.float32)
        on_goals = jnp.max(
            jnp.where(cells[:, None] == np.array(self.floor.goals), carried[:, None], NOTHING), axis=0
        )
        requests, delivered = deliver(on_goals, state.requests, chances, self.floor.shelves)
        moved = replace(
            state,
            time=state.time + 1,
            cells=cells,
            directions=_turned(state.directions, actions),
            carried=carried,
            standing=standing,
            requests=requests,
            deliveries=state.deliveries + delivered,
        )
        reward = delivered.astype(float)
        return moved, Outcome(
            reward=reward,
            terminated=jnp.asarray(False),
            truncated=moved.time >= self.horizon,
            measures={"deliveries": reward},
        )

    def leave(self, state: WarehouseState, leaving: Bool[Array, " agent"]) -> WarehouseState:
        """What a robot carries goes home, or to the nearest place to it where it can stand.

        Not below a robot with a shelf, which could not put it down there. A place is always left: there are
        as many free ones as carried shelves, and one robot less that carries another.
        """
        state = self._present(state)
        put_back = partial(_put_back, self.floor, state.cells)
        loads = for_each_marked(
            put_back, _Loads(state.carried, state.standing), leaving & (state.carried > 0)
        )
        return replace(state, carried=loads.carried, standing=loads.standing)

    def join(
        self, key: PRNGKeyArray, state: WarehouseState, joining: Bool[Array, " agent"]
    ) -> WarehouseState:
        """On any free cell, looking anywhere, with nothing."""
        place_key, direction_key = jax.random.split(key)
        state = self._present(state)
        taken = jnp.where(state.cells == NOWHERE, self.floor.size, state.cells)
        free = jnp.asarray(self.floor.inside).at[taken].set(False, mode="drop")
        return replace(
            state,
            cells=jnp.where(joining, cells_of_newcomers(place_key, joining, free), state.cells),
            directions=jnp.where(joining, _random_directions(direction_key, self.slots), state.directions),
        )

    def traffic(self, state: WarehouseState, actions: Int[Array, " agent"]) -> Traffic:
        """Who would drive, and whether a tie decides it."""
        state, actions = self._present(state), self._possible(state, actions)
        return resolve(state.cells, self._targets(state, actions))

    def observe(self, state: WarehouseState) -> Float[Array, "agent observation"]:
        state = self._present(state)
        places = jnp.stack(self.floor.column_and_row(state.cells), axis=-1)
        own, words = _own_word(self.floor, state), _cell_words(self.floor, state)
        around = words[state.cells[:, None] + self.floor.around]
        view = jnp.concatenate([places, _bits(own, 6), _bits(around, 7)], axis=-1)
        if self.unlike:
            view = jnp.concatenate([view, *self._seen_by_unlike(state, words)], axis=-1)
        return jnp.where(self.present(state)[:, None], view, 0).astype(float)

    def _seen_by_unlike(self, state: WarehouseState, words: Int[Array, " cell"]) -> list[Array]:
        """What views gain: the cells further away, and what may be seen of capabilities."""
        assert state.capabilities is not None
        further = further_words(self.floor, words, state.cells, abilities(state.capabilities))
        able = scaled(self.capabilities, state.capabilities)
        parts = [_bits(further, 7), able, able_neighbours(self.floor, state.cells, able)]
        return parts[: {"none": 1, "own": 2, "visible": 3}[self.cast.seen]]

    def entities(self, state: WarehouseState) -> EntityView:
        state = self._present(state)
        reach: int | Array = 1
        if state.capabilities is not None:
            reach = abilities(state.capabilities).sensor_range[:, None]
        robots = Robots(state.cells, state.directions, state.carried, reach)
        requested = _requested(state.requests, self.floor.shelves)
        shelves = Shelves(state.standing, state.requests, requested)
        able = able_by_name(self.capabilities, state.capabilities)
        return warehouse_entities(self.floor, robots, shelves, able, self.cast.seen)

    def global_state(self, state: WarehouseState) -> Float[Array, " state"]:
        """Each robot (presence, column, row, load, load requested, direction), then each storage cell.

        A storage cell has two numbers: whether a shelf stands there and whether it is requested.
        """
        state = self._present(state)
        here = self.present(state)
        requested = _requested(state.requests, self.floor.shelves)
        loads = jnp.stack([state.carried > 0, requested[state.carried]], axis=-1)
        robots = [
            here[:, None],
            jnp.stack(self.floor.column_and_row(state.cells), axis=-1),
            loads,
            jax.nn.one_hot(state.directions, 4),
        ]
        rows = jnp.where(here[:, None], jnp.concatenate(robots, axis=-1), 0)
        stored = state.standing[self.floor.storage]
        shelves = jnp.stack([stored > 0, requested[stored]], axis=-1)
        if self.unlike:
            able = jnp.where(here[:, None], scaled(self.capabilities, state.capabilities), 0)
            rows = jnp.concatenate([rows, able], axis=-1)
        robot_rows = padded_rows(rows, self.largest_team).ravel()
        return jnp.concatenate([robot_rows, shelves.ravel()]).astype(float)

    def available_actions(self, state: WarehouseState) -> Bool[Array, "agent action"]:
        """Not forward into a wall or with a shelf into a shelf; no toggling where nothing comes of it."""
        state = self._present(state)
        everyone = jnp.full(self.slots, FORWARD)
        forward = self._targets(state, everyone) != state.cells
        loads = (state.carried == NOTHING) & (state.standing[state.cells] > 0)
        unloads = (state.carried > 0) & ~jnp.asarray(self.floor.highway)[state.cells]
        available = jnp.ones((self.slots, self.action_count), bool)
        available = available.at[:, FORWARD].set(forward).at[:, TOGGLE_LOAD].set(loads | unloads)
        if state.capabilities is not None:
            every_action = jnp.arange(self.action_count)
            possible = jax.vmap(lambda action: self._possible(state, jnp.full(self.slots, action)) == action)
            available &= possible(every_action).T
        return available | ~self.present(state)[:, None]

    def hindered(
        self, before: WarehouseState, actions: Int[Array, " agent"], after: WarehouseState
    ) -> Bool[Array, " agent"]:
        targets = self._targets(before, self._possible(before, actions))
        return (targets != before.cells) & (after.cells == before.cells) & self.present(before)

    def contributed(
        self, before: WarehouseState, actions: Int[Array, " agent"], after: WarehouseState
    ) -> Bool[Array, " agent"]:
        """Who has brought a requested shelf to a goal, where nothing is lifted or put down.

        Not who stood there with a shelf that was requested only at this very moment.
        """
        del actions
        before = self._present(before)
        requested = _requested(before.requests, self.floor.shelves)[before.carried]
        on_goal = jnp.any(after.cells[:, None] == np.array(self.floor.goals), axis=-1)
        return self.present(before) & requested & on_goal

    def draw(self, state: WarehouseState, *, size: int = 480, show_range: bool = False) -> np.ndarray:
        from pc3d.tasks.warehouse.picture import draw_warehouse

        standing, wanted = np.asarray(state.standing), self.of_world(state, state.requests)
        cells, directions, carried = self.of_team(state, state.cells, state.directions, state.carried)
        return draw_warehouse(
            self.floor, standing, cells, directions, carried, wanted, size=size, show_range=show_range
        )

    def _present(self, state: WarehouseState) -> WarehouseState:
        """The state without whatever stands in slots that nobody fills."""
        present = self.present(state)
        return replace(
            state,
            cells=jnp.where(present, state.cells, NOWHERE),
            directions=jnp.where(present, state.directions, UP),
            carried=jnp.where(present, state.carried, NOTHING),
            requests=jnp.where(self.first_slots(state), state.requests, NOTHING),
        )

    def _possible(self, state: WarehouseState, actions: Int[Array, " agent"]) -> Int[Array, " agent"]:
        """What comes of the actions where robots are unlike: those who cannot do it stay."""
        if state.capabilities is None:
            return actions
        able = abilities(state.capabilities)
        possible = acting(able, state.time) & (able.carries | (actions != TOGGLE_LOAD))
        return jnp.where(possible, actions, STAY)

    def _targets(self, state: WarehouseState, actions: Int[Array, " agent"]) -> Int[Array, " agent"]:
        """The cell each robot wants: its own if it does not drive, or faces a wall, or shelf meets shelf."""
        ahead = state.cells + jnp.asarray(self.floor.ahead)[state.directions]
        blocked = (state.carried > 0) & (state.standing[ahead] > 0)
        drives = (actions == FORWARD) & self.present(state) & jnp.asarray(self.floor.inside)[ahead] & ~blocked
        return jnp.where(drives, ahead, state.cells)


class _Loads(NamedTuple):
    carried: Int[Array, " agent"]
    standing: Int[Array, " cell"]


def _put_back(floor: Floor, cells: Int[Array, " agent"], loads: _Loads, robot: Int[Array, ""]) -> _Loads:
    """The robot's shelf stands as close to its own place as it can."""
    shelf, storage = loads.carried[robot], jnp.asarray(floor.storage, jnp.int32)
    columns, rows = floor.column_and_row(storage)
    away = jnp.abs(columns - columns[shelf - 1]) + jnp.abs(rows - rows[shelf - 1])
    others = jnp.where((loads.carried > 0) & (jnp.arange(cells.size) != robot), cells, NOWHERE)
    free = (loads.standing[storage] == NOTHING) & ~jnp.any(storage[:, None] == others, axis=-1)
    place = storage[jnp.argmin(jnp.where(free, away, floor.size))]
    return _Loads(loads.carried.at[robot].set(NOTHING), loads.standing.at[place].set(shelf))


def _random_directions(key: PRNGKeyArray, slots: int) -> Int[Array, " agent"]:
    return jax.vmap(lambda key: jax.random.randint(key, (), 0, 4, jnp.int32))(slot_keys(key, slots))


def _turned(directions: Int[Array, " agent"], actions: Int[Array, " agent"]) -> Int[Array, " agent"]:
    left = jnp.where(actions == TURN_LEFT, jnp.asarray(LEFT_OF)[directions], directions)
    return jnp.where(actions == TURN_RIGHT, jnp.asarray(RIGHT_OF)[directions], left)


def _toggle_loads(
    floor: Floor, state: WarehouseState, toggles: Bool[Array, " agent"]
) -> tuple[Int[Array, " agent"], Int[Array, " cell"]]:
    """Lift the shelf of the cell or put down one's own; on highways there is none, and none is put down.

    Who carries a shelf never stands where another one is, so both are a swap between robot and cell.
    """
    toggles = toggles & (state.cells != NOWHERE) & ~jnp.asarray(floor.highway)[state.cells]
    carried = jnp.where(toggles, state.standing[state.cells], state.carried)
    changed = jnp.where(toggles, state.cells, floor.size)  # which there is not
    return carried, state.standing.at[changed].set(state.carried, mode="drop")


def _own_word(floor: Floor, state: WarehouseState) -> Int[Array, "agent 1"]:
    """Bits: carries a shelf, four for the direction, on a highway."""
    highway = jnp.asarray(floor.highway)[state.cells]
    word = (state.carried > 0) + (2 << state.directions) + 32 * highway
    return word[:, None]


def _cell_words(floor: Floor, state: WarehouseState) -> Int[Array, " cell"]:
    """For each cell, bits: robot, four for its direction, shelf, shelf requested."""
    requested = 64 * _requested(state.requests, floor.shelves)
    # The original shows an absent robot as one that looks up: a robot takes that bit and brings its own.
    robots = 1 + (2 << state.directions) - (2 << UP)
    robots += 32 * (state.carried > 0) + entries(requested, state.carried)
    words = (2 << UP) + 32 * (state.standing > 0) + entries(requested, state.standing)
    there = jnp.where(state.cells == NOWHERE, floor.size, state.cells)
    return words.at[there].add(robots, mode="drop")


def _requested(requests: Int[Array, " agent"], shelves: int) -> Bool[Array, " shelf"]:
    """Whether each shelf is, from the one that is not there on."""
    return jnp.zeros(shelves + 1, bool).at[requests].set(True).at[NOTHING].set(False)


def _bits(words: Int[Array, "agent word"], width: int) -> Int[Array, "agent feature"]:
    bits = (words[:, :, None] >> jnp.arange(width)) & 1
    return bits.reshape(words.shape[0], -1)
