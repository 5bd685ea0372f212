"""What a team may see when it acts: part of the type of every team, and the paper's table of assumptions."""

from dataclasses import dataclass

from pc3d.system.plain import amount


@dataclass(frozen=True)
class Execution:
    """What has to be there at execution besides each agent's own history."""

    central_module: bool = False
    messages: bool = False
    """Agents tell each other something."""
    by_sight: bool = False
    """Messages come from those whom an agent sees: its team is told who sees whom."""
    privileged: bool = False
    """Somebody sees more than any agent does: the whole state."""
    coached: bool = False
    """Who sees it is the team's coach, which is shown all that central parts see while they learn."""
    further: str = ""
    """Other assumptions, in words."""

    @property
    def decentralized(self) -> bool:
        return not (self.central_module or self.messages or self.privileged)

    @property
    def rank(self) -> int:
        """The higher, the more is needed: nothing, an assumption, messages, somebody central."""
        needed = (self.further != "", self.messages, self.central_module or self.privileged)
        return max(place * there for place, there in enumerate(needed, start=1))

    @property
    def most(self) -> str:
        """In a few words, what gives it its rank."""
        talk = "messages in sight" if self.by_sight else "messages"
        return ("nothing", self.further, talk, self.further or "a central module")[self.rank]


ALONE = Execution()
IN_SIGHT = Execution(messages=True, by_sight=True)
COACHED = Execution(
    central_module=True,
    messages=True,
    privileged=True,
    coached=True,
    further="a coach that sees everything",
)
BY_SPLIT = Execution(further="a split of the state by the designer")


@dataclass(frozen=True)
class LinkLoss:
    """Which messages get lost, in training or in play."""

    share: float = 0.0
    """How likely each direction of a link is lost; a link is there if both of its directions are."""
    renewal: float = 0.1
    """How likely it is drawn anew at a step which links are lost."""


@dataclass(frozen=True)
class Messages:
    """What an agent hears at every step, from each of those whom it hears."""

    rounds: int
    width: int
    """Numbers in each message."""

    def __str__(self) -> str:
        return f"{amount(self.rounds, 'message')} of {self.width} numbers from each teammate in sight"


@dataclass(frozen=True)
class GroupMessages:
    """What an agent and a conductor in its sight tell each other now and then."""

    every: int
    width: int
    """Numbers in each message."""

    def __str__(self) -> str:
        often = f"every {amount(self.every, 'step')}"
        return f"{self.width} numbers to and from a conductor in sight {often}, who is elected at random"


@dataclass(frozen=True)
class Broadcasts:
    """What an agent hears now and then from its coach."""

    every: int
    width: int
    """Numbers in each of them."""

    def __str__(self) -> str:
        return f"{self.width} numbers from the coach every {amount(self.every, 'step')}"


AnyMessages = Messages | GroupMessages | Broadcasts


def needs(execution: Execution, messages: AnyMessages | None = None) -> str:
    """In words, what has to be there when a team acts."""
    parts = (
        (messages is None and execution.messages, "messages"),
        (messages is not None, str(messages)),
        (execution.central_module, "a central module"),
        (execution.privileged, "somebody who sees the whole state"),
        (execution.further != "", execution.further),
    )
    return ", ".join(["own history", *(words for there, words in parts if there)])


# What other variable-team methods need, by the paper's table of execution-time assumptions.
NEIGHBOURS = {
    "agent–entity graphs": Execution(messages=True, further="structure of graph and messages"),
    "COPA": COACHED,
    "SOG": Execution(messages=True),
    "MIPI": BY_SPLIT,
}
