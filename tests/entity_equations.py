"""Attention over entities and mixers of it in plain NumPy, agent by agent: slow, and independent."""

import numpy as np

from tests import factored_equations as factored
from tests import paper_equations as paper


def attended(attention, own, entities):
    """[e_i; a_i] for one agent, from its features and those of the entities that it attends to."""
    encode = [np.maximum(paper.dense(attention.encoder, one), 0) for one in (own, *entities)]
    reader, encodings = encode[0], encode[1:]
    query = np.split(paper.dense(attention.to_query, reader), attention.heads)
    found = []
    for head in range(attention.heads):
        keys = [np.split(paper.dense(attention.to_key, one), attention.heads)[head] for one in encodings]
        values = [np.split(paper.dense(attention.to_value, one), attention.heads)[head] for one in encodings]
        scores = np.array([query[head] @ key for key in keys]) / np.sqrt(len(query[head]))
        found.append(sum(share * value for share, value in zip(paper.softmax(scores), values, strict=True)))
    return np.concatenate([reader, *found])


def encoded(encoder, own, entities):
    """What an actor's recurrent layer is given."""
    return paper.mlp(encoder, attended(encoder.attention, own, entities), activate_output=True)


def of_entities(mixer, agents, entities, utilities):
    """Q_tot, where every agent attends to all entities."""
    found = [attended(mixer.attention, own, entities) for own in agents]
    rows = [factored.weights(mixer.to_rows, each, "absolute")[0] for each in found]
    return factored.mixed(mixer, rows, utilities, team_of(mixer, found), "absolute")


def team_of(mixer, found):
    size = [len(found) / mixer.largest_team] if mixer.team_size_feature else []
    return np.concatenate([np.mean(found, axis=0), size])


def imagined(mixer, agents, entities, groups, within, across, sees_across):
    """The same from two utilities of everybody; `groups` are of agents and of entities."""
    of_agents, of_all = groups
    found = [attended(mixer.attention, own, entities) for own in agents]
    rows, utilities = [], []
    for agent, own in enumerate(agents):
        near = [one for one, group in zip(entities, of_all, strict=True) if group == of_agents[agent]]
        afar = [one for one, group in zip(entities, of_all, strict=True) if group != of_agents[agent]] or [
            own
        ]
        near_row, far_row = (
            factored.weights(mixer.to_rows, attended(mixer.attention, own, part), "absolute")[0]
            for part in (near, afar)
        )
        # Both belong to one agent, so the mean is over agents.
        rows.append(near_row * within[agent] + far_row * across[agent] * sees_across[agent])
        utilities.append(1.0)
    return factored.mixed(mixer, rows, utilities, team_of(mixer, found), "absolute")
