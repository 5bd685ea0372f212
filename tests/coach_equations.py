"""COPA's coach in plain NumPy, agent by agent: slow, and independent."""

import numpy as np

from tests import entity_equations as entities
from tests import paper_equations as paper


def advice(coach, own, everything):
    """μ and log σ² of what one agent is told, from its features and those of all there is."""
    found = entities.attended(coach.attention, own, everything)
    return paper.dense(coach.to_mean, found), bounded(paper.dense(coach.to_log_variance, found))


def bounded(log_variance):
    return np.clip(log_variance, -10, 0)


def says(actor, remembered, told):
    heard = np.maximum(paper.dense(actor.listening, np.concatenate([remembered, told])), 0)
    return paper.dense(actor.conditioning.head, heard)


def surprise(mixer, remembered, action, actions, own, everything, told):
    """−log q(z), number by number."""
    where = entities.attended(mixer.attention, own, everything)
    said = paper.mlp(mixer.recogniser, np.concatenate([remembered, np.eye(actions)[action], where]))
    means, log_variances = np.split(said, 2)
    log_variances = bounded(log_variances)
    density = 0.0
    for number, mean, log_variance in zip(told, means, log_variances, strict=True):
        variance = np.exp(log_variance)
        density -= (number - mean) ** 2 / (2 * variance) + np.log(np.sqrt(2 * np.pi * variance))
    return -np.clip(density, -1000, 0)


def entropy(log_variance):
    return sum(0.5 * np.log(2 * np.pi * np.e * np.exp(one)) for one in log_variance)
