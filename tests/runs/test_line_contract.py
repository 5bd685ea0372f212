"""The lines of a run's files: what is not as training writes it is damage, and never a wrong number."""

import json
import math

import pytest

from pc3d.runs.line_contract import newest_metrics, read_clock, read_evaluations, read_metrics
from pc3d.system.errors import DamagedFile

RETURNS = {"return": -1.5, "return_by_size": {"2": [3, -1.5]}}
GOOD = {"update": 3, "episodes": 9, "stage": 1, **RETURNS, "gate": 0.5}
EVALUATION = {"update": 3, "episodes": 9, "return_by_size": {"2": -1.5}}
SITTING = {"updates": 3, "seconds": 1.5}
METRICS = [
    *({name: value for name, value in GOOD.items() if name != lost} for lost in GOOD if lost != "gate"),
    *({**GOOD, name: "text"} for name in GOOD),
    *({**GOOD, name: None} for name in GOOD),
    *({**GOOD, "return": value} for value in (math.nan, math.inf, 1e308, True, [], 10**400)),
    *({**GOOD, "episodes": value} for value in (-1, 0, 1.5, True, 10**30)),
    *({**GOOD, "return_by_size": value} for value in ({}, [], {"a": [1, 1.0]}, {"2": 1.0}, {"2": [0, 1.0]})),
    *({**GOOD, "return_by_size": {name: [1, 1.0]}} for name in ("0", "-2", "²", "", "9" * 50)),
    {**GOOD, "return_by_size": {"2": [1, math.nan]}},
    {**GOOD, "gate": {"a": 1}},
]
EVALUATIONS = [
    *({name: value for name, value in EVALUATION.items() if name != lost} for lost in EVALUATION),
    *({**EVALUATION, "return_by_size": value} for value in ({"2": "x"}, {"2": math.nan}, {"2": [1, 2]}, 3)),
]
SITTINGS = [
    *({"updates": 3}, {"seconds": 1.5}, {"updates": "3", "seconds": 1.5}, {"updates": -1, "seconds": 1.5}),
    *({"updates": 3, "seconds": seconds} for seconds in (math.nan, math.inf, -1.0, "1", None, 1e300)),
]


def written(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


KINDS = [
    (read_metrics, GOOD, METRICS),
    (read_evaluations, EVALUATION, EVALUATIONS),
    (read_clock, SITTING, SITTINGS),
]


@pytest.mark.parametrize(("read", "good", "bad"), KINDS)
def test_every_line_is_held_to_what_training_writes(tmp_path, read, good, bad):
    path = tmp_path / "lines.jsonl"
    assert read(written(path, good, good)) == [good, good]
    for line in bad:
        with pytest.raises(DamagedFile, match=r"lines\.jsonl is damaged: a line has") as refusal:
            read(written(path, good, line, good))
        assert len(str(refusal.value)) < 300, line


def test_the_newest_line_is_held_to_it_too(tmp_path):
    assert newest_metrics(written(tmp_path / "a", GOOD)) == GOOD
    assert newest_metrics(tmp_path / "none") is None
    with pytest.raises(DamagedFile, match="no episodes"):
        newest_metrics(written(tmp_path / "b", GOOD, {"update": 4}))


def test_a_number_of_the_learner_may_be_endless_but_not_text(tmp_path):
    line = {**GOOD, "gradient_norm": math.inf}
    assert read_metrics(written(tmp_path / "a", line)) == [line]
