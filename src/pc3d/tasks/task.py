"""The interface of a task: one cooperative game as pure functions, padded to any number of slots.

A world is `slots` agents wide; the first `team_size` of them are present, or whoever a roster process says.
What stands in the other slots never matters, and everything random is drawn per slot, so that a team plays
the same in a wider world.
"""

import abc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Literal, TypeVar, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, Num, PRNGKeyArray

from pc3d.experiment.action_space import ActionSpace, Choice
from pc3d.experiment.kinds import Capability
from pc3d.experiment.mixes import ALL_USUAL, Cast
from pc3d.experiment.roster_process import CONSTANT, RosterProcess
from pc3d.system.errors import BadInput
from pc3d.tasks.arrays import Amount, AnyArray, Count
from pc3d.tasks.capability_view import capability_parts
from pc3d.tasks.casting import capabilities_of_kinds, kinds_drawn
from pc3d.tasks.described import DescribedTask, ObservationPart
from pc3d.tasks.entities import EntityView, without_entities, without_rows
from pc3d.tasks.entity_rows import central_rows, seen_rows
from pc3d.tasks.split import Split


class WorldState(eqx.Module):
    """What every state has; tasks add their own arrays."""

    team_size: Int[AnyArray, ""]
    """How many there are at the start; what belongs to the world and not to agents stays as many."""
    time: Int[AnyArray, ""]
    there: Bool[AnyArray, " agent"] | None = eqx.field(default=None, kw_only=True)
    """Who is there now, in a world whose roster changes; None: the first `team_size` slots, always."""
    capabilities: Float[AnyArray, "agent capability"] | None = eqx.field(default=None, kw_only=True)
    """What each agent is able to do, in a world of unlike agents; None: all are the task's usual ones."""


World = Literal["crowded", "scaled"]
WORLDS: tuple[World, ...] = get_args(World)
StateT = TypeVar("StateT", bound=WorldState)
TaskT = TypeVar("TaskT", bound="Task[Any]")  # not `Self`, which the tests' look at every shape cannot follow
ROSTER_DRAWS = 0x2057E2  # folded into the key of a start or a step, for whoever comes then
CAST_DRAWS = 0xCA57  # folded into the key of a start, for who is of which kind


class Outcome(eqx.Module):
    """What one step brought to the whole team, of one episode or of several side by side."""

    reward: Float[AnyArray, "..."]
    terminated: Bool[AnyArray, "..."]  # the game is over
    truncated: Bool[AnyArray, "..."]  # the time limit is reached: the game would have gone on
    measures: dict[str, Float[AnyArray, "..."]]  # the task's own quantities, to be summed over the episode


@dataclass(frozen=True)
class Task(abc.ABC, Generic[StateT]):
    """One game. Instances are settings only (hashable), so they are static to `jax.jit`."""

    slots: int
    world: World = field(default="crowded", kw_only=True)
    """The task's own however many share it, or one that grows with the slots, all of them filled."""
    roster: RosterProcess = field(default=CONSTANT, kw_only=True)
    """How the team changes while it plays."""
    cast: Cast = field(default=ALL_USUAL, kw_only=True)
    """Which kinds its agents are of, and what they see of that."""
    by_entity: bool = field(default=False, kw_only=True)
    """Whether agents are shown entities one by one, in the place of the flat view that tells the same."""

    name: ClassVar[str]
    action_names: ClassVar[tuple[str, ...]]
    """Of the actions; a task whose actions are real numbers has an `action_space` of its own instead."""
    masks_actions: ClassVar[bool] = False
    """Whether `available_actions` binds: no other action is ever taken, nor learned from."""
    observation_layout: ClassVar[tuple[ObservationPart, ...]]
    measure_names: ClassVar[tuple[str, ...]]
    smallest_team: ClassVar[int]
    largest_team: ClassVar[int]
    """The largest that the task is meant for. Its world may have room for more: `most_agents`."""
    reference_team: ClassVar[int | None] = None
    """A scaled world is as dense as the task's own with such a team; None if the task has no scaled world."""
    fewest_present: ClassVar[int] = 1
    """Of a team that is at least so large, so many must always be there: fewer could not play."""
    capabilities: ClassVar[tuple[Capability, ...]] = ()
    """What agents may differ in; the state then has them in this order."""
    seen_teammates: ClassVar[int] = 0
    """How many teammates a view has places for, where it shows what they are able to do."""

    def __post_init__(self) -> None:
        if self.world == "scaled" and self.reference_team is None:
            raise BadInput(f"{self.name} has no scaled world")
        if not self.smallest_team <= self.slots <= self.most_agents:
            raise BadInput(
                f"{self.name} is played by {self.smallest_team} to {self.most_agents} agents{self.room}, "
                f"not {self.slots}"
            )

    @property
    @abc.abstractmethod
    def horizon(self) -> int:
        """How many steps an episode has at most."""

    @property
    def roster_changes(self) -> bool:
        """Whether agents may join and leave within an episode; else what depends on that is not compiled."""
        return self.roster != CONSTANT

    @property
    def tells_contributions(self) -> bool:
        """Whether the task says what one agent brings."""
        return type(self).contributed is not Task.contributed

    @property
    def most_agents(self) -> int:
        """How many agents there is room for."""
        return self.largest_team

    @property
    def room(self) -> str:
        """In brackets, why there is no room for more."""
        return ""

    @property
    def growth(self) -> float:
        """How much larger the world is than the task's own; small teams have the task's own, too."""
        if self.world == "crowded" or self.reference_team is None:
            return 1.0
        return max(1.0, self.slots / self.reference_team)

    @property
    def action_space(self) -> ActionSpace:
        """What an agent can do: a choice of `action_names`, or a `Box` in its place."""
        return Choice(self.action_names, self.masks_actions)

    @property
    def action_count(self) -> int:
        """How many numbers a policy says: one for each action, or for each number of an action."""
        return self.action_space.width

    @property
    def layout(self) -> tuple[ObservationPart, ...]:
        """What an agent sees: `observation_layout`, and of unlike agents what they see of capabilities."""
        more = capability_parts(self.cast.seen, self.capabilities, self.seen_teammates)
        return self.observation_layout + more

    @property
    def observation_width(self) -> int:
        if self.by_entity:
            return self.most_visible * (entity_features(self) + 1)
        return sum(part.width for part in self.layout)

    @property
    def most_visible(self) -> int:
        """How many entities an agent sees at most, itself included; 0 where nobody has said."""
        return 0

    @property
    def split(self) -> Split | None:
        """Which numbers of the flat view tell of teammates; None where the designer has not said."""
        return None

    def with_abilities(self, split: Split) -> Split:
        """The same where views end with what may be seen of capabilities, own ones and then teammates'."""
        parts = capability_parts(self.cast.seen, self.capabilities, self.seen_teammates)
        split = replace(split, width=split.width + sum(part.width for part in parts[:1]))
        of_teammates = sum(part.width for part in parts[1:])
        return split.with_more(of_teammates, self.seen_teammates) if of_teammates else split

    def shown_by_entity(self: TaskT) -> TaskT:
        """The same game, whose agents are shown entities one by one."""
        if not (self.has_entities and self.most_visible):
            raise BadInput(without_rows(self.name))
        return replace(self, by_entity=True)

    def with_slots(self: TaskT, slots: int) -> TaskT:
        """The same game, padded to another width."""
        return replace(self, slots=slots)

    def slots_for(self, team_size: int) -> int:
        """How many a team needs that begins with so many agents."""
        return self.roster.limits(team_size, self.fewest_present).slots

    def with_roster(self: TaskT, roster: RosterProcess) -> TaskT:
        """The same game, whose team changes by a process."""
        if roster != CONSTANT and type(self).join is Task.join:
            raise BadInput(f"{self.name} has constant rosters: it does not say what it means to join")
        return replace(self, roster=roster)

    def with_cast(self: TaskT, cast: Cast) -> TaskT:
        """The same game, played by such kinds of agents."""
        for kind in cast.kinds:
            kind.check(self.name, self.capabilities)
        return replace(self, cast=cast)

    @property
    def unlike(self) -> bool:
        """Whether agents are of several kinds; else what depends on that is not compiled."""
        return self.cast != ALL_USUAL

    def drawn_capabilities(
        self, key: PRNGKeyArray, team_size: int | Int[Array, ""]
    ) -> Float[Array, "agent capability"] | None:
        """For the start with this key; None where all agents are alike."""
        if not self.unlike:
            return None
        key = jax.random.fold_in(key, CAST_DRAWS)
        kinds = kinds_drawn(self.cast, key, slot_keys(key, self.slots), team_size)
        return capabilities_of_kinds(self.cast, self.capabilities)[kinds]

    def present(self, state: StateT) -> Bool[Array, " agent"]:
        """Who is there now: the one place that says so."""
        return self.first_slots(state) if state.there is None else jnp.asarray(state.there)

    def first_slots(self, state: StateT) -> Bool[Array, " agent"]:
        """As many as there were agents at the start: what belongs to the world stays with them."""
        return jnp.arange(self.slots) < state.team_size

    def of_team(self, state: StateT, *parts: AnyArray) -> tuple[np.ndarray, ...]:
        """Parts of the state without the slots that nobody fills, for a picture."""
        here = np.asarray(self.present(state))
        return tuple(np.asarray(part)[here] for part in parts)

    def of_world(self, state: StateT, part: AnyArray) -> np.ndarray:
        """A part of the state that belongs to the world: of as many slots as had agents at the start."""
        return np.asarray(part)[: int(state.team_size)]

    @property
    @abc.abstractmethod
    def return_definition(self) -> str:
        """In one sentence, what the reported return of an episode is."""

    def reported_return(self, total_reward: Amount, team_size: Count) -> Any:
        """The return that tables show, from the sum of team rewards over an episode."""
        del team_size
        return total_reward

    @abc.abstractmethod
    def reset(self, key: PRNGKeyArray, team_size: int | Int[Array, ""]) -> StateT:
        """Draw a start from the original game's distribution."""

    @abc.abstractmethod
    def step(
        self, key: PRNGKeyArray, state: StateT, actions: Num[Array, " agent *number"]
    ) -> tuple[StateT, Outcome]:
        """Play one step of the whole team."""

    def leave(self, state: StateT, leaving: Bool[Array, " agent"]) -> StateT:
        """What becomes of the world when these go; they are still there in the state."""
        del leaving
        return state

    def join(self, key: PRNGKeyArray, state: StateT, joining: Bool[Array, " agent"]) -> StateT:
        """Place newcomers as at the start, where there is room; they are not there yet in the state."""
        del key, state, joining
        raise NotImplementedError

    def begin(
        self,
        key: PRNGKeyArray,
        team_size: int | Int[Array, ""],
        present: Bool[Array, " agent"] | None = None,
    ) -> StateT:
        """A start, with these agents if any are named."""
        state = self.reset(key, team_size)
        if present is None:
            return state
        return self.changed(key, replace(state, there=self.first_slots(state)), present)

    def advance(
        self,
        key: PRNGKeyArray,
        state: StateT,
        actions: Num[Array, " agent *number"],
        present: Bool[Array, " agent"] | None = None,
    ) -> tuple[StateT, Outcome]:
        """One step, after which these agents are there if any are named: the reward is of those before."""
        following, outcome = self.step(key, state, actions)
        return following if present is None else self.changed(key, following, present), outcome

    def changed(self, key: PRNGKeyArray, state: StateT, present: Bool[Array, " agent"]) -> StateT:
        """With these agents instead: departures first, then arrivals."""
        before = self.present(state)
        left = replace(self.leave(state, before & ~present), there=before & present)
        joined = self.join(jax.random.fold_in(key, ROSTER_DRAWS), left, present & ~before)
        return replace(joined, there=present)

    @abc.abstractmethod
    def observe(self, state: StateT) -> Float[Array, "agent observation"]:
        """What each agent sees; zeros for inactive slots."""

    @abc.abstractmethod
    def global_state(self, state: StateT) -> Float[Array, " state"]:
        """The whole state as one vector, as wide as `largest_team` needs (or more slots, if there are)."""

    def entities(self, state: StateT) -> EntityView:
        """The world thing by thing, and who sees what of each: as much as `observe` tells, no more."""
        del state
        raise BadInput(without_entities(self.name))

    @property
    def has_entities(self) -> bool:
        return type(self).entities is not Task.entities

    def shown(self, state: StateT) -> Float[Array, "agent observation"]:
        """What policies of this game see: the flat view, or entities one by one."""
        return seen_rows(self.entities(state), self.most_visible) if self.by_entity else self.observe(state)

    def whole(self, state: StateT) -> Float[Array, " state"]:
        """What central parts may see: `global_state`, or all entities one by one, as wide for all teams."""
        if not self.by_entity:
            return self.global_state(state)
        widest = self.with_slots(max(self.slots, self.largest_team))
        return central_rows(self.entities(state), _entity_shapes(widest).central.there.size)

    def available_actions(self, state: StateT) -> Bool[Array, "agent action"]:
        """Which actions have an effect of their own; they bind nobody, unless `masks_actions` says so."""
        del state
        return jnp.ones((self.slots, self.action_count), bool)

    def hindered(
        self, before: StateT, actions: Num[Array, " agent *number"], after: StateT
    ) -> Bool[Array, " agent"]:
        """Who touches a teammate after a step, or was kept by one from where it wanted to go."""
        del before, actions
        return jnp.zeros_like(self.present(after))

    def contributed(
        self, before: StateT, actions: Num[Array, " agent *number"], after: StateT
    ) -> Bool[Array, " agent"]:
        """Who brought in a step what the team is there for; after it nobody has left or joined yet."""
        del before, actions, after
        raise NotImplementedError

    def draw(self, state: StateT, *, size: int = 480, show_range: bool = False) -> np.ndarray:
        """A picture of the state: height × width × RGB, 8 bits each, at most `size` pixels a side."""
        del state, size, show_range
        raise BadInput(f"{self.name} has no picture: give it a draw method")

    def film(
        self, states: Sequence[StateT], *, size: int = 480, show_range: bool = False
    ) -> Iterator[np.ndarray]:
        """A picture of each moment of an episode."""
        return (self.draw(state, size=size, show_range=show_range) for state in states)


def entity_features(task: "AnyTask") -> int:
    """How many numbers there are of each entity."""
    return len(_entity_shapes(task).names)


def entity_count(task: "AnyTask") -> int:
    """How many entities there may be, agents included."""
    return _entity_shapes(task).there.size


def _entity_shapes(task: "AnyTask") -> EntityView:
    return jax.eval_shape(lambda: task.entities(task.reset(jax.random.key(0), task.slots)))


AnyTask = Task[Any]
Game = AnyTask | DescribedTask  # all that learning and scoring need to know, wherever worlds are stepped


def slot_keys(key: PRNGKeyArray, slots: int) -> Key[Array, " agent"]:
    """One key per slot that does not depend on how many slots there are."""
    return jax.vmap(lambda slot: jax.random.fold_in(key, slot))(jnp.arange(slots))


def padded_rows(rows: Num[Array, "agent number"], least: int) -> Num[Array, "slot number"]:
    """A row per agent, filled up with zeros to at least so many."""
    return jnp.pad(rows, ((0, max(least - len(rows), 0)), (0, 0)))


def scalar(value: int | Array) -> Int[Array, ""]:
    """A counter as an array, so that states have the same types at reset and in a scan."""
    return jnp.asarray(value, jnp.int32)
