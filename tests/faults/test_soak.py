"""The judgement over a long run: growing memory, falling speed and forgotten files are each seen."""

from __future__ import annotations

import pytest

from tests.faults.soak import MOST_GROWTH, MOST_SLOWING, Sample, judge

HOUR = 3600


def samples(growth: float = 0.0, slowing: float = 0.0, files: int = 0) -> list[Sample]:
    """Two hours: memory grows by so many megabytes an hour, the second hour is slower by so much."""
    moments = range(0, 2 * HOUR, 30)
    return [
        Sample(
            seconds=moment,
            processor_seconds=moment / 2,  # it has half a processor
            megabytes=500 + growth * moment / HOUR,
            open_files=4 + files * (moment > HOUR),
            episodes=round(100 * (moment - slowing * max(0, moment - HOUR))),
        )
        for moment in moments
    ]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        ({"growth": MOST_GROWTH * 0.9, "slowing": MOST_SLOWING * 0.9}, 0),
        ({"growth": MOST_GROWTH * 1.1}, 1),
        ({"slowing": MOST_SLOWING * 1.1}, 1),
        ({"files": 1}, 1),
    ],
)
def test_only_a_flat_run_passes(changes, code, capsys):
    assert judge(samples(**changes)) == code
    assert ("not flat" in capsys.readouterr().out) == bool(code)
