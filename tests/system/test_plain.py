"""Differences of settings, as a person is told of them."""

from dataclasses import replace

from pc3d.presets.paper import paper
from pc3d.system.plain import differences, in_short


def test_many_differences_are_told_in_short():
    changed = differences(paper("spread", "pc3d"), paper("lbf", "vdn"))
    told = in_short(changed)
    assert len(changed) > 10
    assert told.endswith(f"and {len(changed) - 3} more")
    assert len(told) < 3 * 125 + 20


def test_few_differences_are_told_whole():
    usual = paper("spread", "mappo")
    changed = differences(usual, replace(usual, seed=3, episodes=64))
    assert in_short(changed) == "seed: 0 → 3; episodes: 20000 → 64"


def test_every_difference_has_a_name():
    for one in differences(paper("spread", "mappo"), paper("lbf", "vdn")):
        assert one.split(":")[0].replace(".", "").replace("_", "").isalpha(), one
