"""What tests of studies have in common."""

import pytest


@pytest.fixture
def minute_long_runs(monkeypatch):
    """Where runs are timed, they take a minute; and which ones were."""
    timed = []

    def seconds(experiment):
        timed.append(experiment)
        return 60.0

    seconds.timed = timed
    monkeypatch.setattr("pc3d.jobs.calibration.measured_seconds", seconds)
    return seconds
