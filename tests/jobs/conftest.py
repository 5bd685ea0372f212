"""What tests of studies have in common."""

import pytest

from pc3d.jobs import projection


@pytest.fixture
def minute_long_runs(monkeypatch):
    timed = []

    def seconds(experiment):
        timed.append(experiment)
        return 60.0

    monkeypatch.setattr(projection, "seconds_of_run", seconds)
    return timed
