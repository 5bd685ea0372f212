"""The small warehouse by rware itself, behind the port's interface."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, Int, PRNGKeyArray

from pc3d.tasks.original_world import OriginalWorld
from pc3d.tasks.task import Outcome
from pc3d.tasks.warehouse.floor import CELLS, GOALS, NOTHING, cell_at, column_and_row
from pc3d.tasks.warehouse.world import Warehouse, WarehouseState

AGENT_LAYER, SHELF_LAYER = 0, 1  # of the package's grid: agent and shelf numbers, from 1
Node = tuple[int, int]


class OriginalWarehouse(OriginalWorld[WarehouseState]):
    """The package breaks ties by the order of Python's sets; with `index_ties` the lowest index wins."""

    package = "rware"

    def __init__(self, task: Warehouse, index_ties: bool = False) -> None:
        super().__init__(task)
        self._index_ties = index_ties

    def _made(self) -> Any:
        import gymnasium
        import rware  # noqa: F401  (the import registers its environments)
        from rware.warehouse import RewardType

        return gymnasium.make(
            f"rware-small-{self.team_size}ag-v2", reward_type=RewardType.GLOBAL, disable_env_checker=True
        ).unwrapped

    def reset(self, seed: int) -> None:
        self._views, _ = self._environment.reset(seed=seed)
        self._deliveries = 0

    def load(self, state: WarehouseState) -> None:
        environment = self._environment
        for cell in np.flatnonzero(state.standing):
            shelf = environment.shelfs[int(state.standing[cell]) - 1]
            shelf.x, shelf.y = column_and_row(int(cell))
        for slot, agent in enumerate(environment.agents):
            agent.x, agent.y = column_and_row(int(state.cells[slot]))
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
        standing = np.zeros(CELLS, np.int32)
        for shelf in environment.shelfs:
            if shelf not in loads:
                standing[cell_at(shelf.x, shelf.y)] = shelf.id
        return WarehouseState(
            team_size=np.int32(self.team_size),
            time=np.int32(environment._cur_steps),
            cells=np.array([cell_at(agent.x, agent.y) for agent in environment.agents], np.int32),
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
        self._index_ties = True
        self._environment._np_random = _PortsRequests(self._environment, key)


class _PortsRequests:
    """Stands in for the package's generator, which draws nothing but new requests during a step."""

    def __init__(self, environment: Any, key: PRNGKeyArray) -> None:
        self._environment, self._key = environment, key

    def choice(self, shelves: list[Any]) -> Any:
        chance = np.float32(jax.random.uniform(self._key, (len(GOALS),))[self._goal()])
        return shelves[int(chance * np.float32(len(shelves)))]

    def _goal(self) -> int:
        """Goals are served in order, so a delivered shelf still requested on the first one is its turn."""
        environment = self._environment
        x, y = column_and_row(GOALS[0])
        shelf = environment.grid[SHELF_LAYER, y, x]
        return 0 if shelf and environment.shelfs[shelf - 1] in environment.request_queue else 1


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
