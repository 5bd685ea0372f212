"""The small warehouse by rware itself, behind the port's interface."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, Int, PRNGKeyArray

from pc3d.system.errors import BadInput
from pc3d.tasks.original_world import OriginalWorld
from pc3d.tasks.task import Outcome
from pc3d.tasks.warehouse.floor import NOTHING, Floor
from pc3d.tasks.warehouse.world import Warehouse, WarehouseState

AGENT_LAYER, SHELF_LAYER = 0, 1  # of the package's grid: agent and shelf numbers, from 1
Node = tuple[int, int]


class OriginalWarehouse(OriginalWorld[WarehouseState]):
    """The package breaks ties by the order of Python's sets; with `index_ties` the lowest index wins.

    If that is left open, it is so as soon as the package is to follow the port.
    """

    package = "rware"
    task: Warehouse

    def __init__(self, task: Warehouse, index_ties: bool | None = None) -> None:
        if task.unlike:
            raise BadInput(
                "rware has robots of one kind only: unlike ones are our extension, without an original"
            )
        super().__init__(task)
        self._index_ties = index_ties

    def _made(self) -> Any:
        from rware.warehouse import RewardType
        from rware.warehouse import Warehouse as Package

        self._floor = self.task.floor
        return Package(
            # Of a building, nothing but the layout counts where there is one.
            shelf_columns=0,
            column_height=0,
            shelf_rows=0,
            layout="\n".join(self._floor.layout),
            n_agents=self.team_size,
            msg_bits=0,
            sensor_range=1,
            request_queue_size=self.team_size,
            max_inactivity_steps=None,
            max_steps=self.task.horizon,
            reward_type=RewardType.GLOBAL,
        )

    def reset(self, seed: int) -> None:
        self._views, _ = self._environment.reset(seed=seed)
        self._deliveries = 0

    def load(self, state: WarehouseState) -> None:
        environment = self._environment
        for cell in np.flatnonzero(state.standing):
            shelf = environment.shelfs[int(state.standing[cell]) - 1]
            shelf.x, shelf.y = self._floor.column_and_row(int(cell))
        for slot, agent in enumerate(environment.agents):
            agent.x, agent.y = self._floor.column_and_row(int(state.cells[slot]))
            agent.dir = type(agent.dir)(int(state.directions[slot]))
            agent.carrying_shelf = None
            if state.carried[slot] != NOTHING:
                agent.carrying_shelf = environment.shelfs[int(state.carried[slot]) - 1]
                agent.carrying_shelf.x, agent.carrying_shelf.y = agent.x, agent.y
        requests = np.asarray(state.requests)[: self.team_size]
        environment.request_queue = [environment.shelfs[shelf - 1] for shelf in requests]
        environment._cur_steps = int(state.time)
        environment._recalc_grid()
        self._deliveries = int(state.deliveries)
        self._views = tuple(environment._make_obs(agent) for agent in environment.agents)

    def read(self) -> WarehouseState:
        environment = self._environment
        loads = [agent.carrying_shelf for agent in environment.agents]
        standing = np.zeros(self._floor.size, np.int32)
        for shelf in environment.shelfs:
            if shelf not in loads:
                standing[self._floor.cell_at(shelf.x, shelf.y)] = shelf.id
        return WarehouseState(
            team_size=np.int32(self.team_size),
            time=np.int32(environment._cur_steps),
            cells=np.array([self._floor.cell_at(agent.x, agent.y) for agent in environment.agents], np.int32),
            directions=np.array([agent.dir.value for agent in environment.agents], np.int32),
            carried=np.array([load.id if load else NOTHING for load in loads], np.int32),
            standing=standing,
            requests=np.array([shelf.id for shelf in environment.request_queue], np.int32),
            deliveries=np.int32(self._deliveries),
        )

    def observe(self) -> Float[np.ndarray, "agent 71"]:
        return np.stack(self._views)

    def step(self, actions: Int[np.ndarray, " agent"]) -> Outcome:
        ties = _index_ties(self._environment.grid[AGENT_LAYER]) if self._index_ties else nullcontext()
        with ties:
            self._views, rewards, ended, _, _ = self._environment.step([int(action) for action in actions])
        delivered = np.float64(rewards[0])  # everyone gets the whole team's reward
        self._deliveries += int(delivered)
        return Outcome(
            reward=delivered,
            terminated=np.bool_(False),
            truncated=np.bool_(ended),  # the package calls its time limit a termination
            measures={"deliveries": delivered},
        )

    def follow(self, key: PRNGKeyArray) -> None:
        if self._index_ties is None:
            self._index_ties = True
        self._environment._np_random = _PortsRequests(self._environment, self._floor, key)


class _PortsRequests:
    """Stands in for the package's generator, which draws nothing but new requests during a step."""

    def __init__(self, environment: Any, floor: Floor, key: PRNGKeyArray) -> None:
        self._environment, self._floor, self._key = environment, floor, key
        self._not_served = list(enumerate(floor.goals))

    def choice(self, shelves: list[Any]) -> Any:
        chances = jax.random.uniform(self._key, (len(self._floor.goals),), np.float32)
        return shelves[int(np.float32(chances[self._goal()]) * np.float32(len(shelves)))]

    def _goal(self) -> int:
        """Goals are served in order: it is the turn of the next one with a requested shelf on it."""
        environment = self._environment
        while self._not_served:
            goal, cell = self._not_served.pop(0)
            x, y = self._floor.column_and_row(cell)
            shelf = environment.grid[SHELF_LAYER, y, x]
            if shelf and environment.shelfs[shelf - 1] in environment.request_queue:
                return goal
        raise AssertionError("the package drew a request without a delivery")


@contextmanager
def _index_ties(agents: Int[np.ndarray, "row column"]) -> Iterator[None]:
    """Within this block, rware's search for the longest queue prefers low agent indices among equals."""
    import networkx

    original = networkx.algorithms.dag_longest_path
    networkx.algorithms.dag_longest_path = partial(_longest_queue, agents.copy())
    try:
        yield
    finally:
        networkx.algorithms.dag_longest_path = original


def _longest_queue(agents: Int[np.ndarray, "row column"], graph: Any) -> list[Node]:
    """A replacement for networkx's search, for graphs in which every cell leads to at most one other."""

    def length(node: Node) -> int:
        return 1 + max((length(follower) for follower in graph.pred[node]), default=0)

    path = [next(node for node in graph if graph.out_degree(node) == 0)]
    while followers := list(graph.pred[path[-1]]):
        path.append(min(followers, key=lambda node: (-length(node), agents[node[1], node[0]])))
    return path[::-1]
