"""Who is there in a PettingZoo environment whose agents leave and join: from names to slots.

A slot is a place, not a person. It stays empty for a moment before somebody else takes it, so that presence
in time says where a new life begins.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool

from pc3d.play.hosted.world import ContractBroken
from pc3d.system.plain import amount, printable

SLOTS_NAME = "agent_slots"
MOST_NAMES = 3  # that a sentence lists


class Attendance:
    """Of one episode at a time."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.team: dict[str, int] = {}
        """Who is there now, and in which slots."""
        self.left: list[str] = []
        self.joined: list[str] = []
        self.most = 0
        """The largest number at once."""

    def begin(self, names: Sequence[str]) -> None:
        self.team = {name: slot for slot, name in enumerate(names)}
        self.left, self.joined, self.most = [], [], len(names)

    @property
    def present(self) -> Bool[np.ndarray, " agent"]:
        return np.isin(np.arange(self.slots), list(self.team.values()))

    def change(self, names: Sequence[str], over: Mapping[str, bool]) -> list[str]:
        """The team after a step at which the game went on, and for whom it was over; who is new."""
        newcomers = [name for name in names if name not in self.team]
        self._check(names, newcomers, over)
        taken = set(self.team.values())
        free = [slot for slot in range(self.slots) if slot not in taken]
        self._check_room(len(names), newcomers, free)
        self.left += [name for name in self.team if name not in names]
        self.joined += newcomers
        self.most = max(self.most, len(names))
        staying = {name: slot for name, slot in self.team.items() if name in names}
        self.team = staying | dict(zip(newcomers, free, strict=False))
        return newcomers

    def story(self, steps: int) -> str:
        """What became of the team in so many steps of random play, in a sentence."""
        lives = len(self.team) + len(self.left)
        lived = "1 life" if lives == 1 else f"{lives:,} lives"
        return (
            f"the team may change while it plays: {_named(self.left)} left and {_named(self.joined)} joined "
            f"in {amount(steps, 'step')} of random play after a start with "
            f"{amount(lives - len(self.joined), 'agent')}; {lived} in {amount(self.slots, 'slot')}, at most "
            f"{amount(self.most, 'agent')} at once"
        )

    def _check(self, names: Sequence[str], newcomers: Sequence[str], over: Mapping[str, bool]) -> None:
        if not names:
            raise ContractBroken(
                "env.agents is empty before the end: an episode ends when all who are there are terminated "
                "or truncated at the same step"
            )
        if len(set(names)) != len(names):
            raise ContractBroken("env.agents has a name twice")
        for name in self.team:
            if name not in names and not over[name]:
                raise ContractBroken(
                    f"{name} is gone from env.agents without a word: who leaves gets a termination or a "
                    "truncation at that step"
                )
            if name in names and over[name]:
                raise ContractBroken(
                    f"{name} is done and still in env.agents while others play on: take out who leaves, or "
                    "let it stay without an end and do nothing"
                )
        returned = [name for name in newcomers if name in self.left]
        if returned:
            raise ContractBroken(
                f"{returned[0]} came back: who joins is a new agent without a memory, and needs a new name"
            )

    def _check_room(self, there: int, newcomers: Sequence[str], free: Sequence[int]) -> None:
        how = f"give the environment the attribute {SLOTS_NAME} = %d, or more"
        if there > self.slots:
            raise ContractBroken(
                f"{amount(there, 'agent')} are there at once, and {amount(self.slots, 'slot')} for them: "
                + how % there
            )
        if len(newcomers) > len(free):
            needed = self.slots + len(newcomers) - len(free)
            raise ContractBroken(
                f"{newcomers[0]} found no slot: one that was just left stays empty for a step; "
                + how % needed
            )


def _named(names: Sequence[str]) -> str:
    """Some names, and how many more there are."""
    if not names:
        return "nobody"
    more = len(names) - MOST_NAMES
    shown = [printable(name) for name in names[:MOST_NAMES]] + ([f"{more} more"] if more > 0 else [])
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
