"""SOG's messages and groups in plain NumPy, agent by agent: slow, and independent."""

import numpy as np

from tests import entity_equations as entities
from tests import paper_equations as paper


def message(actor, own, sight):
    """Mean and deviation of what an agent would say, from its features and those of all it sees."""
    return bounded(paper.dense(actor.to_message, entities.attended(actor.encoder.attention, own, sight)))


def foretold(actor, own, sight, remembered):
    found = entities.attended(actor.encoder.attention, own, sight)
    return bounded(paper.dense(actor.to_foresight, np.concatenate([found, remembered])))


def bounded(said):
    mean, raw = np.split(said, 2)
    below = 0.5 - np.log(1 + np.exp(0.5 - raw))
    return mean, np.exp(-10 + np.log(1 + np.exp(below + 10)))


def returned(said, links, elections, preferences, conductors):
    """What everybody hears, whom it follows (nobody: None), and from how many it hears."""
    present = [agent for agent in range(len(said)) if links[agent, agent]]
    elected = [agent for agent in present if elections[agent] < conductors / len(present)]
    follows = {}
    for agent in present:
        seen = [agent] if agent in elected else [other for other in elected if links[agent, other]]
        follows[agent] = max(seen, key=lambda other: preferences[agent][other]) if seen else None
    heard, counts = {}, {}
    for agent in present:
        group = [other for other in present if follows[other] == follows[agent] is not None]
        heard[agent] = np.mean([said[member] for member in group or [agent]], axis=0)
        counts[agent] = len(group) - 1 if follows[agent] == agent else int(follows[agent] is not None)
    return heard, follows, counts


def divergence(one, other):
    """KL of two normal distributions, number by number."""
    (mean, deviation), (mean_other, deviation_other) = one, other
    apart = (deviation**2 + (mean - mean_other) ** 2) / (2 * deviation_other**2)
    return np.sum(np.log(deviation_other / deviation) + apart - 0.5)


def confusion(drawn, sender, knowing):
    """−log of how likely a message is by what its sender knows, beside the mean over the team."""
    likely = {agent: density(drawn, *known) for agent, known in knowing.items()}
    return -np.log(likely[sender] / np.mean(list(likely.values())))


def density(drawn, mean, deviation):
    return np.prod(np.exp(-0.5 * ((drawn - mean) / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi)))
