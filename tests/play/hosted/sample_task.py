"""A small PettingZoo-like task, and one broken version of it for every rule of the contract."""

import os
import time
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete

STEPS = 6


class Meeting:
    """Agents on a line should meet; each sees its own place and the way to the middle of its team."""

    horizon = STEPS
    render_mode = "rgb_array"

    def __init__(self, team_size):
        self.possible_agents = [f"agent_{slot}" for slot in range(team_size)]
        self.agents = []

    def observation_space(self, agent):
        return Box(-9, 9, (2,), np.float32)

    def action_space(self, agent):
        return Discrete(3)

    def reset(self, seed=None, options=None):
        self.random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self.time = 0
        self.places = self.random.uniform(-1, 1, len(self.agents))
        return self.views(), {name: {} for name in self.agents}

    def step(self, actions):
        team = list(self.agents)
        self.time += 1
        self.places = self.places + 0.1 * (np.array([actions[name] for name in team]) - 1)
        reward = -float(np.abs(self.places - self.places.mean()).mean())
        over = self.time >= STEPS
        views = self.views()
        if over:
            self.agents = []
        return (
            views,
            dict.fromkeys(team, reward),
            dict.fromkeys(team, False),
            dict.fromkeys(team, over),
            {name: {} for name in team},
        )

    def views(self):
        to_middle = self.places.mean() - self.places
        pairs = np.stack([self.places, to_middle], axis=-1).astype(np.float32)
        return dict(zip(self.possible_agents, pairs, strict=True))

    def render(self):
        picture = np.zeros((32, 64, 3), np.uint8)
        picture[16, np.clip(32 + 20 * self.places, 0, 63).astype(int)] = 255
        return picture


def make(team_size):
    return Meeting(team_size)


class Named(Meeting):
    """Says what its observation is made of."""

    observation_parts = {"own place": 1, "way to the middle": 1}  # noqa: RUF012


class NamedInPart(Meeting):
    observation_parts = {"own place": 1}  # noqa: RUF012


class NamedWithoutWidths(Meeting):
    observation_parts = ("own place", "way to the middle")


class Chatty(Meeting):
    """Prints, and reads what is not meant for it."""

    def step(self, actions):
        print("a line that must not reach the learner", flush=True)
        os.read(0, 1)
        return super().step(actions)


class Raising(Meeting):
    def step(self, actions):
        if self.time == 3:
            raise ValueError("the wheel came off")
        return super().step(actions)


class Hanging(Meeting):
    def step(self, actions):
        time.sleep(60 if self.time == 2 else 0)
        return super().step(actions)


class Dying(Meeting):
    def step(self, actions):
        if self.time == 2:
            os._exit(7)
        return super().step(actions)


class Growing(Meeting):
    """An observation that gets wider in the middle of an episode."""

    def views(self):
        views = super().views()
        return views if self.time < 4 else {name: np.append(view, 0) for name, view in views.items()}


class WideTeams(Meeting):
    """Everybody sees everybody: wider for larger teams."""

    def views(self):
        return {name: np.append(view, self.places) for name, view in super().views().items()}


class NamedWideTeams(WideTeams):
    """Its parts add up with two agents."""

    observation_parts = {"own": 2, "everybody": 2}  # noqa: RUF012


class FarTooWide(Meeting):
    observation_parts = {"place": 10**6 + 1}  # noqa: RUF012

    def views(self):
        return dict.fromkeys(self.possible_agents, np.zeros(10**6 + 1, np.float32))


class UnlikeAgents(Meeting):
    def views(self):
        views = super().views()
        return {**views, "agent_0": np.zeros(3, np.float32)}


class Unseeded(Meeting):
    def reset(self, seed=None, options=None):
        return super().reset(seed=None)


class UnseededSteps(Meeting):
    """The start is seeded, what happens later is not."""

    def step(self, actions):
        self.places = self.places + np.random.default_rng().uniform(-0.1, 0.1, len(self.agents))
        return super().step(actions)


class Leaking(Meeting):
    """Every episode starts a little further to the right than the last."""

    episodes = 0

    def reset(self, seed=None, options=None):
        super().reset(seed)
        self.places = self.places + self.episodes
        self.episodes += 1
        return self.views(), {}


class TooFew(Meeting):
    def __init__(self, team_size):
        super().__init__(max(1, team_size - 1))


class Lingering(Meeting):
    """The first agent is done earlier than the others, and stays."""

    def step(self, actions):
        views, rewards, terminated, truncated, infos = super().step(actions)
        terminated["agent_0"] = self.time >= 3
        return views, rewards, terminated, truncated, infos


class Vanishing(Meeting):
    """The first agent is gone without a word."""

    def step(self, actions):
        answer = super().step({"agent_0": 1, **actions})
        self.agents = self.agents[1:]
        return answer


class Relay:
    """Agents come and go by a timetable; each sees how often it has acted, and the number of its name."""

    horizon = STEPS
    render_mode = "rgb_array"
    spare = 1
    # After so many steps: who leaves, and who joins.
    timetable: ClassVar[dict] = {2: ([], ["late_1"]), 3: (["agent_0"], []), 4: ([], ["late_2"])}

    def __init__(self, team_size):
        self.start = [f"agent_{slot}" for slot in range(team_size)]
        self.agent_slots = team_size + self.spare
        self.agents = []

    def observation_space(self, agent):
        return Box(-99, 99, (2,), np.float32)

    def action_space(self, agent):
        return Discrete(3)

    def reset(self, seed=None, options=None):
        self.random = np.random.default_rng(seed)
        self.agents, self.time = list(self.start), 0
        self.acted = dict.fromkeys(self.agents, self.random.uniform())
        return self.views(self.agents), {}

    def step(self, actions):
        assert set(actions) == set(self.agents)
        self.time += 1
        self.acted = {name: count + 1 for name, count in self.acted.items()}
        leaving, joining = self.timetable.get(self.time, ([], []))
        team, over = list(self.agents), self.time >= STEPS
        self.agents = [] if over else [name for name in team if name not in leaving] + joining
        self.acted |= dict.fromkeys(joining, 0.0)
        told = team if over else team + joining
        reward = {name: float(action == 2) for name, action in actions.items()}
        truncated = {name: over or name in leaving for name in told}
        return self.views(told), reward, dict.fromkeys(told, False), truncated, {}

    def views(self, names):
        return {name: np.array([self.acted[name], int(name.split("_")[1])], np.float32) for name in names}

    def render(self):
        return np.zeros((8, 8, 3), np.uint8)


class ComingBack(Relay):
    timetable: ClassVar[dict] = {2: (["agent_0"], []), 4: ([], ["agent_0"])}


class TooManyAtOnce(Relay):
    spare = 0
    timetable: ClassVar[dict] = {2: ([], ["late_1"])}


class AllReplaced(Relay):
    timetable: ClassVar[dict] = {3: (["agent_0", "agent_1", "agent_2"], ["first_0", "second_0"])}


class EmptyEarly(Relay):
    def step(self, actions):
        views, rewards, terminated, truncated, infos = super().step(actions)
        if self.time == 3:
            self.agents, truncated = [], {}
        return views, rewards, terminated, truncated, infos


class TooFewSlots(Relay):
    spare = -1


class Surprising(Relay):
    """Somebody leaves, but not in the episodes of a check."""

    spare = 0

    def reset(self, seed=None, options=None):
        self.timetable = {3: (["agent_0"], [])} if seed not in (1, 2) else {}
        return super().reset(seed)


class Continuous(Meeting):
    """Everybody says how far it goes: never farther than 0.1, and in the type that was asked for."""

    def action_space(self, agent):
        return Box(-0.1, 0.1, (1, 1), np.float64)

    def step(self, actions):
        assert all(self.action_space(name).contains(action) for name, action in actions.items())
        return super().step({name: 1 + 10 * action.item() for name, action in actions.items()})


class Unbounded(Continuous):
    def action_space(self, agent):
        return Box(-np.inf, 1, (2,))


class WholeNumbers(Continuous):
    def action_space(self, agent):
        return Box(0, 3, (2,), np.int64)


class SeveralChoices(Meeting):
    def action_space(self, agent):
        return MultiDiscrete([2, 3])


class Masked(Meeting):
    """Nobody may leave the line between -1 and 1; who tries to has broken the rules."""

    def masks(self):
        return {
            name: np.array([place > -0.9, True, place < 0.9], np.int8)
            for name, place in zip(self.possible_agents, self.places, strict=True)
        }

    def infos(self):
        return {name: {"action_mask": mask} for name, mask in self.masks().items()}

    def reset(self, seed=None, options=None):
        return super().reset(seed)[0], self.infos()

    def step(self, actions):
        assert all(self.masks()[name][action] for name, action in actions.items())
        views, rewards, terminated, truncated, _ = super().step(actions)
        return views, rewards, terminated, truncated, self.infos()


class MaskedViews(Masked):
    """The other place that PettingZoo has for masks."""

    def infos(self):
        return {}

    def views(self):
        masks = self.masks()
        return {
            name: {"observation": view, "action_mask": masks[name]} for name, view in super().views().items()
        }


class MaskOnce(Masked):
    def infos(self):
        return super().infos() if self.time == 0 else {}


class MaskOfNothing(Masked):
    """Nobody may do anything from the third moment on, in which the game is not over."""

    def masks(self):
        return super().masks() if self.time < 2 else dict.fromkeys(self.possible_agents, np.zeros(3))


class MaskOfNothingAtTheEnd(Masked):
    def masks(self):
        over = self.time >= STEPS
        return dict.fromkeys(self.possible_agents, np.zeros(3)) if over else super().masks()


class NarrowMask(Masked):
    def masks(self):
        return dict.fromkeys(self.possible_agents, np.ones(2))


class MaskedNumbers(Masked):
    def action_space(self, agent):
        return Box(-1, 1, (3,))


class UnlikeActions(Meeting):
    def action_space(self, agent):
        return Discrete(3 if agent == "agent_0" else 4)


class MoreActionsInLargerTeams(Meeting):
    def action_space(self, agent):
        return Discrete(3 + len(self.possible_agents))


class NotANumber(Meeting):
    def views(self):
        return {name: view * np.nan for name, view in super().views().items()}


class NoReward(Meeting):
    def step(self, actions):
        views, _, *rest = super().step(actions)
        return views, {}, *rest


class Sleeping(Meeting):
    def step(self, actions):
        if self.time == 2:
            time.sleep(30)
        return super().step(actions)


class Words(Meeting):
    def views(self):
        return {name: view.astype(str) for name, view in super().views().items()}


class Complex(Meeting):
    def views(self):
        return {name: view * 1j for name, view in super().views().items()}


class TooLarge(Meeting):
    def views(self):
        return {name: view.astype(float) + 1e300 for name, view in super().views().items()}


class OneRewardInAnArray(Meeting):
    def step(self, actions):
        views, rewards, *rest = super().step(actions)
        return views, {name: np.array([reward]) for name, reward in rewards.items()}, *rest


class Rewarding(Meeting):
    """Gives a reward that is none."""

    reward = None

    def step(self, actions):
        views, rewards, *rest = super().step(actions)
        return views, dict.fromkeys(rewards, self.reward), *rest


class TwoRewards(Rewarding):
    reward = np.zeros(2)


class EndlessReward(Rewarding):
    reward = 1e300


class TwoEnds(Meeting):
    def step(self, actions):
        views, rewards, ends, *rest = super().step(actions)
        return views, rewards, dict.fromkeys(ends, np.array([False, False])), *rest


class OldReset(Meeting):
    def reset(self):
        return super().reset()


class LoneReset(Meeting):
    def reset(self, seed=None, options=None):
        return super().reset(seed)[0]


class OldStep(Meeting):
    def step(self, actions):
        return super().step(actions)[:4]


class NestedViews(Meeting):
    def views(self):
        return {name: {"place": view} for name, view in super().views().items()}


class NoLimit(Meeting):
    horizon = None

    def step(self, actions):
        answer = super().step(actions)
        self.agents = list(self.possible_agents)
        return answer[0], answer[1], answer[2], dict.fromkeys(self.agents, False), answer[4]


class MeasuredLimit(Meeting):
    """No attribute tells the limit: it shows itself."""

    horizon = None


class OwnRewards(Meeting):
    """Each agent is paid by its own way to the middle."""

    def step(self, actions):
        views, rewards, *rest = super().step(actions)
        return views, {name: -abs(float(views[name][1])) for name in rewards}, *rest


class OutOfBounds(Meeting):
    def observation_space(self, agent):
        return Box(-0.01, 0.01, (2,), np.float32)


class TurnBased(Meeting):
    def agent_iter(self):
        return iter(self.agents)


class Shifted(Meeting):
    """Actions are numbered from 1."""

    def action_space(self, agent):
        return Discrete(3, start=1)

    def step(self, actions):
        assert all(1 <= action <= 3 for action in actions.values())
        return super().step({name: action - 1 for name, action in actions.items()})


def nothing_of_use(team_size):
    return SimpleNamespace(reset=print)


def unmakeable(team_size):
    raise OSError("the arena is closed")


not_callable = 3


class FailsLater(Meeting):
    """A fault that a check with small seeds does not meet."""

    def reset(self, seed=None, options=None):
        self.seed = seed
        return super().reset(seed)

    def step(self, actions):
        if self.time == 1 and self.seed > 10:
            raise ValueError("the wheel came off")
        return super().step(actions)


class DoubleViews(Meeting):
    """The same in every team, but wider than it was when a policy was trained."""

    def views(self):
        return {name: np.append(view, view) for name, view in super().views().items()}
