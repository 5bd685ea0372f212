"""RWARE by script: every robot heads for its errand along shortest ways, and makes room for who is nearer.

Each step is planned anew from the state alone. Who gives way is decided as in priority inheritance with
backtracking (PIBT, Okumura and others): a robot that wants a cell pushes whoever stands there.
"""

from collections import deque
from functools import lru_cache

import numpy as np
from jaxtyping import Int

from pc3d.tasks.warehouse.floor import LEFT_OF, NOTHING, RIGHT_OF, Floor
from pc3d.tasks.warehouse.unlike import abilities
from pc3d.tasks.warehouse.world import (
    FORWARD,
    STAY,
    TOGGLE_LOAD,
    TURN_LEFT,
    TURN_RIGHT,
    Warehouse,
    WarehouseState,
)

FAR = 10**6
WAYS = range(4)


def deliver(task: Warehouse, state: WarehouseState) -> Int[np.ndarray, " agent"]:
    """The actions of all robots: load or unload where that is the errand, else drive towards it."""
    plan = _Plan(task, state)
    plan.give_errands()
    return plan.actions()


class _Plan:
    """One step of the whole team."""

    def __init__(self, task: Warehouse, state: WarehouseState) -> None:
        self.floor = task.floor
        robots = task.of_team(state, state.cells, state.directions, state.carried)
        self.cells, self.directions, self.carried = (part.tolist() for part in robots)
        self.carriers = _carriers(task, state, len(self.cells))
        self.standing = np.asarray(state.standing)
        self.requests = set(task.of_world(state, state.requests).tolist())
        self.robots = range(len(self.cells))
        self.at = {cell: robot for robot, cell in enumerate(self.cells)}
        self.targets: dict[int, int] = {}
        self.next_cells: dict[int, int] = {}

    def give_errands(self) -> None:
        """Requested loads go to a goal, other loads to an empty place, the rest fetch requested shelves."""
        bringing = [robot for robot in self.robots if self.carried[robot] in self.requests]
        returning = [robot for robot in self.robots if self.carried[robot] and robot not in bringing]
        fetching = [robot for robot in self.carriers if self.carried[robot] == NOTHING]
        for robot in bringing:
            self.targets[robot] = min(self.floor.goals, key=lambda goal: self._steps(robot, goal))
        # A place from which somebody has yet to come out is not empty: the two would wait for each other.
        leaving = {self.cells[robot] for robot in bringing}
        empty = [
            int(cell) for cell in self.floor.storage if self.standing[cell] == NOTHING and cell not in leaving
        ]
        self._share_out(returning, empty)
        wanted = [
            int(cell) for cell in self.floor.storage if int(self.standing[cell]) in self.requests - {NOTHING}
        ]
        self._share_out(fetching, wanted)

    def actions(self) -> Int[np.ndarray, " agent"]:
        """Loaded robots decide first, having fewer ways; among equals those closest to their target."""
        for robot in sorted(self.robots, key=self._rank):
            if robot not in self.next_cells:
                self._decide(robot, pusher=None)
        return np.array([self._action(robot) for robot in self.robots])

    def _rank(self, robot: int) -> tuple[bool, int]:
        return self.carried[robot] == NOTHING, self._steps(robot, self._target(robot))

    def _share_out(self, robots: list[int], places: list[int]) -> None:
        """One place each, the nearest pair of robot and place first."""
        if not robots or not places:
            return
        cells, directions = np.array(self.cells)[robots], np.array(self.directions)[robots]
        loaded = self.carried[robots[0]] != NOTHING  # all of them or none
        away = np.stack([steps_to(self.floor, place, loaded)[cells, directions] for place in places], axis=1)
        taken: set[int] = set()
        for pair in np.argsort(away, axis=None, kind="stable"):
            robot, place = robots[pair // len(places)], places[pair % len(places)]
            if robot not in self.targets and place not in taken:
                self.targets[robot] = place
                taken.add(place)
                if len(taken) == min(len(robots), len(places)):
                    return

    def _decide(self, robot: int, pusher: int | None) -> bool:
        """Choose the robot's next cell, pushing who stands there; False if it can only stay."""
        for cell in self._ways(robot):
            if cell in self.next_cells.values() or (pusher is not None and cell == self.cells[pusher]):
                continue
            self.next_cells[robot] = cell
            occupant = self.at.get(cell, robot)
            if occupant == robot or occupant in self.next_cells or self._decide(occupant, robot):
                return True
        self.next_cells[robot] = self.cells[robot]
        return False

    def _ways(self, robot: int) -> list[int]:
        """The cells it could be in next, its own included, those from which its target is nearer first."""
        own, steps = (
            self.cells[robot],
            steps_to(self.floor, self._target(robot), self.carried[robot] != NOTHING),
        )
        options = [(1 + steps[own, self.directions[robot]], own)]
        for way in WAYS:
            cell = own + int(self.floor.ahead[way])
            if self.floor.inside[cell] and not (self.carried[robot] and self.standing[cell]):
                options.append((_turns(self.directions[robot], way) + 1 + steps[cell, way], cell))
        return [cell for _, cell in sorted(options)]

    def _action(self, robot: int) -> int:
        own, aim, direction = self.cells[robot], self.next_cells[robot], self.directions[robot]
        if aim == own:
            at_work = own == self.targets.get(robot) and not self.floor.highway[own]
            return TOGGLE_LOAD if at_work else STAY
        if own + self.floor.ahead[direction] == aim:
            return FORWARD
        return TURN_LEFT if own + self.floor.ahead[LEFT_OF[direction]] == aim else TURN_RIGHT

    def _target(self, robot: int) -> int:
        return self.targets.get(robot, self.cells[robot])

    def _steps(self, robot: int, target: int) -> int:
        loaded = self.carried[robot] != NOTHING
        return int(steps_to(self.floor, target, loaded)[self.cells[robot], self.directions[robot]])


def _carriers(task: Warehouse, state: WarehouseState, robots: int) -> list[int]:
    """Who can lift; the others have no errand, and make room."""
    if state.capabilities is None:
        return list(range(robots))
    (carries,) = task.of_team(state, abilities(state.capabilities).carries)
    return [int(robot) for robot in np.flatnonzero(carries)]


@lru_cache(maxsize=10_000)
def steps_to(floor: Floor, target: int, loaded: bool) -> Int[np.ndarray, "cell direction"]:
    """Actions needed from each cell and direction; with a shelf the way leads over highways only."""
    steps = np.full((floor.size, len(WAYS)), FAR)
    steps[target] = 0
    queue = deque((target, way) for way in WAYS)
    while queue:
        cell, way = queue.popleft()
        before = [(cell, int(LEFT_OF[way])), (cell, int(RIGHT_OF[way]))]
        if not loaded or floor.highway[cell] or cell == target:
            before.append((cell - int(floor.ahead[way]), way))
        for place in before:
            if floor.inside[place[0]] and steps[place] == FAR:
                steps[place] = steps[cell, way] + 1
                queue.append(place)
    return steps


def _turns(direction: int, way: int) -> int:
    if direction == way:
        return 0
    return 1 if way in (LEFT_OF[direction], RIGHT_OF[direction]) else 2
