"""Searches whose workers are stand-ins, unless a test asks for real ones."""

import pytest

from tests.jobs.tuning.searches import start_fake_worker


@pytest.fixture
def fake_workers(monkeypatch):
    monkeypatch.setattr("pc3d.jobs.local.start_worker", start_fake_worker)
    monkeypatch.setattr("pc3d.jobs.loop.SECONDS_BETWEEN_LOOKS", 0.02)
    monkeypatch.setattr("pc3d.jobs.loop.SECONDS_BETWEEN_ATTEMPTS", 0.1)
    monkeypatch.setattr("pc3d.jobs.tuning.search.SECONDS_BETWEEN_COUNTS", 0.1)
