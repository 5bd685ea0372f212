"""Is this a task that pc3d can train on? `examine` plays a few episodes and says precisely what is not."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from types import FrameType
from typing import Any

import numpy as np

from pc3d.experiment.action_space import ActionSpace
from pc3d.experiment.world import ObservationPart, OwnWorld
from pc3d.play.hosted.crew import DEFAULT_HOSTING
from pc3d.play.hosted.parallel import FIXED_WIDTH, Make, ParallelWorld
from pc3d.play.hosted.world import ContractBroken, HostStep
from pc3d.system.plain import amount
from pc3d.tasks.chance import by_chance

LONGEST_SEARCH = 1000  # steps of random play in which a time limit must show itself
COMPARED_STEPS = 25  # two episodes that should be the same are compared so far
ONE_SEED, OTHER_SEED = 1, 2
NO_KEY = np.zeros(2, np.uint32)
Story = list[HostStep]  # an episode; first its start, as if that were a step that brought nothing


@dataclass
class Examination:
    """What was found: the world as training needs to know it, what must be mended, what is good to know."""

    world: OwnWorld | None = None
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def examine(
    make: Make | Any,
    team_sizes: Iterable[int],
    horizon: int | None = None,
    timeout: float = DEFAULT_HOSTING.env_timeout,
    show: Callable[[str], None] = lambda _: None,
) -> Examination:
    """Play the environment of every team size by chance and hold it to the contract; `show` what is next."""
    found = Examination()
    if not callable(make):
        found.problems.append(
            f"it is a {type(make).__name__}, not a function: name one that takes a team size and returns a "
            "ParallelEnv"
        )
        return found
    seen: list[_Seen] = []
    broken: list[tuple[int, str]] = []
    for size in team_sizes:
        show(amount(size, "agent"))
        try:
            shape = seen[0].shape if seen else None
            seen.append(_examine_size(make, size, horizon, timeout, found, shape))
        except ContractBroken as error:
            broken.append((size, str(error)))
    found.problems += told_once(broken)
    _compare_sizes(seen, found)
    limit = horizon or _time_limit(seen, found)
    if seen and limit and not found.problems:
        found.world = _description(seen, limit)
    return found


def told_once(broken: Iterable[tuple[int, str]]) -> list[str]:
    """What is wrong with which team sizes, each of it once, however many sizes have it."""
    alike: dict[str, list[tuple[int, str]]] = {}
    for size, problem in broken:  # what is said of a call names its team size
        alike.setdefault(problem.replace(f"make({size})", "make"), []).append((size, problem))
    return [
        f"with {amount(size, 'agent')}: {problem}"
        + (f"; the same with {', '.join(str(other) for other, _ in others)}" if others else "")
        for (size, problem), *others in alike.values()
    ]


@dataclass(frozen=True)
class _Seen:
    """What is known of one team size."""

    team_size: int
    shape: tuple[int, ...]
    actions: ActionSpace
    told_limit: int | None  # by an attribute
    met_limit: int | None  # by a truncation
    parts: tuple[ObservationPart, ...]
    slots: int
    changes: bool  # agents left or joined, or there is room for more of them


def _examine_size(
    make: Make,
    size: int,
    horizon: int | None,
    timeout: float,
    found: Examination,
    shape: tuple[int, ...] | None,
) -> _Seen:
    """Hold one team size to the contract; `shape` is what agents of another one see, if there was one."""
    with _answering_within(timeout):
        world, twin_world = ParallelWorld(make, size), ParallelWorld(make, size)
    longest = horizon or world.time_limit or LONGEST_SEARCH
    first = _play(world, ONE_SEED, timeout, longest)
    changes = world.slots > size or bool(world.attendance.left or world.attendance.joined)
    if changes:
        found.notes.append(world.attendance.story(len(first) - 1))
    parting = _parting(first, _play(twin_world, ONE_SEED, timeout))
    if parting is not None:
        raise ContractBroken(
            f"reset(seed={ONE_SEED}) does not decide the episode: two new environments differ at moment "
            f"{parting}; draw everything from a generator that reset seeds"
        )
    other = _play(world, OTHER_SEED, timeout)
    parting = _parting(first, _play(world, ONE_SEED, timeout))
    if parting is not None:
        raise ContractBroken(
            f"something is left over from one episode to the next: reset(seed={ONE_SEED}) leads to another "
            f"episode (at moment {parting}) after an episode with seed {OTHER_SEED}"
        )
    _note(world, first, other, found)
    assert world.shape is not None
    met = len(first) - 1 if first[-1].truncated else None
    assert world.actions is not None
    # A view that is wider in larger teams is the trouble itself, not that its parts do not add up.
    parts = world.observation_parts if shape in (None, world.shape) else ()
    limit = world.time_limit
    return _Seen(size, world.shape, world.actions.described, limit, met, parts, world.slots, changes)


def _play(world: ParallelWorld, seed: int, timeout: float, longest: int = COMPARED_STEPS) -> Story:
    """An episode of random play, of at most so many steps."""
    chance = np.random.default_rng(seed)
    with _answering_within(timeout):
        views = world.reset(seed)
        story = [HostStep(views, world.attendance.present, 0.0, False, False, ())]
    for time in range(1, longest + 1):
        try:
            with _answering_within(timeout):
                step = world.step(NO_KEY, _random_actions(world, story[-1], chance))
        except ContractBroken as error:
            raise ContractBroken(f"at step {time}: {error}") from None
        story.append(step)
        if step.terminated or step.truncated:
            break
    return story


def _random_actions(world: ParallelWorld, last: HostStep, chance: np.random.Generator) -> np.ndarray:
    assert world.actions is not None
    space = world.actions.described
    chances: Any = chance.random((world.slots, *space.shape), np.float32)
    allowed: Any = last.views[:, -space.mask_width :] > 0 if space.masked else None
    return np.asarray(by_chance(space, chances, allowed))


def _parting(one: Story, other: Story) -> int | None:
    """The first moment at which two stories differ."""
    for moment, (here, there) in enumerate(zip(one, other, strict=False)):
        same_views = np.array_equal(here.views, there.views) and np.array_equal(here.present, there.present)
        if here.reward != there.reward or not same_views:
            return moment
    return None


@contextmanager
def _answering_within(seconds: float) -> Iterator[None]:
    """A call that takes longer counts as hanging, as it does later in the worker processes."""

    def late(number: int, frame: FrameType | None) -> None:
        if monotonic() < deadline and callable(before):  # an interrupt that had to wait uses the same alarm
            before(number, frame)
        else:
            raise ContractBroken(f"it did not answer within {seconds:g} s")

    if threading.current_thread() is not threading.main_thread():  # where nobody can be called back
        yield
        return
    deadline = monotonic() + seconds
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _note(world: ParallelWorld, first: Story, other: Story, found: Examination) -> None:
    same_start, outside = np.array_equal(first[0].views, other[0].views), _outside_bounds(world, first)
    filmed = getattr(world.environment, "render_mode", None) == "rgb_array"
    notes = {
        "agents get different rewards: the team's reward is their mean": world.individual_rewards,
        "with another seed agents first see the same; fine if your game has only one start": same_start,
        "observations leave the bounds of their observation space, which pc3d does not enforce": outside,
        'pc3d watch cannot film it: make it with render_mode="rgb_array"': not filmed,
    }
    found.notes += [note for note, holds in notes.items() if holds and note not in found.notes]


def _outside_bounds(world: ParallelWorld, story: Story) -> bool:
    """Whether what is seen leaves the space that was declared; it changes nothing, but may be a slip."""
    for name, slot in world.attendance.team.items():
        space: Any = world.environment.observation_space(name)
        if not hasattr(space, "low") or space.shape != world.shape:
            continue
        there = [moment.views[slot] for moment in story if moment.present[slot]]
        seen = np.reshape(
            [view[: space.low.size] for view in there], (-1, space.low.size)
        )  # a mask may follow
        if (seen < space.low.ravel() - 1e-6).any() or (seen > space.high.ravel() + 1e-6).any():
            return True
    return False


def _compare_sizes(seen: list[_Seen], found: Examination) -> None:
    for one in seen[1:]:
        if one.shape != seen[0].shape:
            found.problems.append(
                f"observations have shape {seen[0].shape} with {amount(seen[0].team_size, 'agent')} and "
                f"{one.shape} with {one.team_size}: {FIXED_WIDTH}"
            )
            return
        if one.actions != seen[0].actions:
            found.problems.append(
                f"an action is {seen[0].actions.words} with {amount(seen[0].team_size, 'agent')}, and "
                f"{one.actions.words} with {one.team_size}: every team must have the same"
            )
            return


def _time_limit(seen: list[_Seen], found: Examination) -> int | None:
    """The longest that any team may play: as an attribute tells, or as random play met it."""
    limits = [one.told_limit or one.met_limit for one in seen]
    known = [limit for limit in limits if limit is not None]
    if known and len(known) == len(limits):
        return max(known)
    if seen:
        found.problems.append(
            f"no time limit was found in {LONGEST_SEARCH} steps: give one with --horizon N, or let the "
            "environment have the attribute horizon"
        )
    return None


def _description(sizes: list[_Seen], horizon: int) -> OwnWorld:
    seen = sizes[0]
    return OwnWorld.acting(
        seen.actions,
        stepped_by="host",
        horizon=horizon,
        observation_shape=seen.shape or (1,),
        return_definition=f"the mean of the agents' rewards, summed over at most {horizon} steps",
        observation_parts=seen.parts,
        roster_changes=any(one.changes for one in sizes),
        spare_slots=max(one.slots - one.team_size for one in sizes),
    )
