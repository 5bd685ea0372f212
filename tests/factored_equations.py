"""Value factorisation in plain NumPy, team by team and agent by agent: slow, and independent."""

import numpy as np

from tests import paper_equations as paper


def elu(value):
    return np.where(value > 0, value, np.expm1(np.minimum(value, 0)))


def weights(hypernetwork, value, kind):
    """One row of weights for each output of the layer's width."""
    raw = paper.mlp(hypernetwork.layers, value).reshape(-1, hypernetwork.width)
    if kind == "absolute":
        return np.abs(raw)
    return np.sqrt(hypernetwork.width) * np.array([paper.softmax(row) for row in raw])


def mixed(mixer, rows, utilities, team, kind, state=()):
    """Q_tot = w₂ᵀ ELU((1/n) Σ_i w_i Q_i + b) + V."""
    hidden = paper.dense(mixer.to_offset, team)
    for row, utility in zip(rows, utilities, strict=True):
        hidden = hidden + row * utility / len(utilities)
    last = weights(mixer.to_weights, team, kind)[0]
    return last @ elu(hidden) + paper.mlp(mixer.to_value, np.concatenate([team, state]))[0]


def mean_utility(mixer, observations, utilities, kind, state=()):
    return sum(utilities) / len(utilities)


def joint(mixer, observations, utilities, kind, state=()):
    """Padded to the largest team, with a 1 after everybody who is there."""
    width, team = observations.shape[1] + 1, len(utilities)
    seen = np.zeros((mixer.largest_team, width))
    for agent, observation in enumerate(observations):
        seen[agent] = [*observation, 1]
    rows = weights(mixer.to_rows, seen.ravel(), kind)[:team]
    return mixed(mixer, rows, utilities, seen.ravel(), kind, state)


def of_set(mixer, encodings, summary, utilities, kind, state):
    rows = [weights(mixer.to_rows, np.concatenate([each, summary]), kind)[0] for each in encodings]
    size = [len(utilities) / mixer.largest_team] if mixer.team_size_feature else []
    return mixed(mixer, rows, utilities, np.concatenate([summary, size]), kind, state)


def mean(mixer, observations, utilities, kind, state=()):
    encodings = paper.encodings(mixer, observations)
    return of_set(mixer, encodings, encodings.mean(axis=0), utilities, kind, state)


def tokens(mixer, observations, utilities, kind, state=()):
    encodings = paper.encodings(mixer.teacher, observations)
    summary = paper.tokens(mixer.teacher.queries, encodings).ravel()
    return of_set(mixer, encodings, summary, utilities, kind, state)


MIXERS = {"vdn": mean_utility, "qmix": joint, "qmix-pic": mean, "pc3d-qmix": tokens}


def double_q_target(reward, discount, *, terminated, online, slow, mix):
    """r + γ Q⁻_tot of what the learning network would do; `mix` is the slow mixer of that moment."""
    if terminated:
        return reward
    best = [int(np.argmax(each)) for each in online]
    return reward + discount * mix([each[action] for each, action in zip(slow, best, strict=True)])


def traced_targets(rewards, next_values, terminated, discount, trace, bonuses=None):
    """Σ_k of returns after k steps, weighted (1 − λ) λ^(k−1), the last one with what is left.

    Bonuses are of the moment after each step, and count wherever a return goes through it or ends there.
    """
    targets, steps = [], len(rewards)
    bonuses = np.zeros(steps) if bonuses is None else bonuses
    for start in range(steps):
        total, weight, gathered = 0.0, 1.0, 0.0
        for step in range(start, steps):
            gathered += discount ** (step - start) * rewards[step]
            ends = terminated[step]
            bonus = 0.0 if ends else discount ** (step - start + 1) * bonuses[step]
            following = 0.0 if ends else discount ** (step - start + 1) * next_values[step]
            last = ends or step == steps - 1
            share = weight if last else weight * (1 - trace)
            total += share * (gathered + bonus + following)
            weight -= share
            gathered += bonus
            if last:
                break
        targets.append(total)
    return np.array(targets)
