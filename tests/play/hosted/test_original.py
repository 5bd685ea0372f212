"""The original packages as worlds on the host: workers know their rules, and what does not fit is refused."""

import numpy as np
import pytest

from pc3d.play.hosted.original import OriginalOnHost, rules_as_words, rules_from_words
from pc3d.play.hosted.world import ContractBroken
from pc3d.tasks.registry import TASKS
from pc3d.tasks.spread.rules import SpreadRules


def test_an_original_with_views_of_another_width_is_refused(monkeypatch):
    world = OriginalOnHost("spread", SpreadRules("pairs"), 2)
    monkeypatch.setattr(world.world, "observe", lambda: np.zeros((2, 5)))
    with pytest.raises(ContractBroken, match=r"views of shape \(2, 5\), not \(2, \d+\)"):
        world.begin(np.zeros(2, np.uint32))


@pytest.mark.parametrize(
    ("task", "rules"), [("spread", SpreadRules("mean")), *((name, TASKS[name].rules()) for name in TASKS)]
)
def test_a_worker_is_told_the_rules_as_they_are(task, rules):
    (words,) = rules_as_words(rules)
    assert rules_from_words(task, words) == rules
