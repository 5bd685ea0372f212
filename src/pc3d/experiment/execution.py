"""What a team may see when it acts: part of the type of every team, and the paper's table of assumptions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Execution:
    """What has to be there at execution besides each agent's own history."""

    central_module: bool = False
    messages: bool = False
    """Agents tell each other something."""
    privileged: bool = False
    """Somebody sees more than any agent does: the whole state."""
    further: str = ""
    """Other assumptions, in words."""

    @property
    def decentralized(self) -> bool:
        return not (self.central_module or self.messages or self.privileged)


ALONE = Execution()

# What other variable-team methods need, by the paper's table of execution-time assumptions.
NEIGHBOURS = {
    "agent–entity graphs": Execution(messages=True, further="structure of graph and messages"),
    "COPA": Execution(
        central_module=True, messages=True, privileged=True, further="a coach that sees everything"
    ),
    "SOG": Execution(messages=True),
    "MIPI": Execution(further="a split of the state by the designer"),
}
