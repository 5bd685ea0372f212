"""What agents see of capabilities: more numbers at the end of their views, as many for every team."""

from collections.abc import Mapping, Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pc3d.experiment.kinds import Capability
from pc3d.experiment.mixes import Seen
from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.described import ObservationPart

Capabilities = tuple[Capability, ...]
Able = Mapping[
    str, Float[Array, " agent"]
]  # what views gain of each agent, by name; nothing where all are alike


def capability_parts(seen: Seen, capabilities: Capabilities, teammates: int) -> tuple[ObservationPart, ...]:
    """The parts that views gain; none for capabilities that the task's own view has places for."""
    shown = [one.name for one in capabilities if not one.in_view]
    if seen == "none" or not shown:
        return ()
    own = ObservationPart(f"own {', '.join(shown)}, scaled to 0 to 1", len(shown))
    others = ObservationPart("the same of the teammates seen, in their order", len(shown) * teammates)
    return (own,) if seen == "own" else (own, others)


def scaled(capabilities: Sequence[Capability], values: AnyArray | None) -> Float[Array, "agent shown"]:
    """Those that views gain, from 0 to 1 over what they may be."""
    assert values is not None  # in a world of unlike agents
    columns = np.array([place for place, one in enumerate(capabilities) if not one.in_view])
    low, high = np.array([(capabilities[place].low, capabilities[place].high) for place in columns]).T
    return (jnp.clip(jnp.asarray(values)[:, columns], low, high) - low) / (high - low)


def able_by_name(capabilities: Sequence[Capability], values: AnyArray | None) -> Able:
    """The same, column by column; none in a world of like agents."""
    if values is None:
        return {}
    names = [one.name for one in capabilities if not one.in_view]
    return dict(zip(names, scaled(capabilities, values).T, strict=True))
