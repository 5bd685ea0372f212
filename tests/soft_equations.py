"""MIPI's equations in plain NumPy, agent by agent: slow, and independent."""

import numpy as np

from tests import paper_equations as paper


def soft(utilities, usual, cost):
    """π(a) ∝ p(a) exp(Q(a) / α), with p = softmax(usual): by its chances, not its logits."""
    p = paper.softmax(usual)
    raised = p * np.exp((utilities - np.max(utilities)) / cost)
    return raised / raised.sum(), p


def information(chances, p):
    return sum(c * np.log(c / q) for c, q in zip(chances, p, strict=True) if c > 0)


def entropy(chances):
    return -sum(c * np.log(c) for c in chances if c > 0)


def soft_target(reward, discount, *, terminated, slow, policies, price, mix):
    """r + γ (Q⁻_tot of expected utilities − price · mean KL); `price` is α in the reward's units."""
    if terminated:
        return reward
    expected = [chances @ values for (chances, _), values in zip(policies, slow, strict=True)]
    paid = np.mean([information(*policy) for policy in policies])
    return reward + discount * (mix(expected) - price * paid)


def maximum_entropy_target(reward, discount, *, terminated, online, slow, cost, price, mix):
    """The same of who is paid for entropy, from what the greatest lacks, and draws from softmax(Q / α)."""
    if terminated:
        return reward
    chances = [paper.softmax(each / cost) for each in online]
    lacks = np.mean([np.log(len(each)) - entropy(each) for each in chances])
    return reward + discount * (
        mix([each @ values for each, values in zip(chances, slow, strict=True)]) - price * lacks
    )


def without(view, places, kept):
    """A view with some of its teammates alone, who close up."""
    left = [view[list(numbers)] for numbers, stays in zip(places, kept, strict=True) if stays]
    found = view.copy()
    for place, numbers in enumerate(places):
        found[list(numbers)] = left[place] if place < len(left) else 0
    return found


def blind(view, places):
    found = view.copy()
    for numbers in places:
        found[list(numbers)] = 0
    return found
