"""A study's jobs: the loop that sees each one done, and who does them (processes here, or a Ray cluster)."""

from pc3d.workers.loop import (
    ATTEMPTS,
    SECONDS_BETWEEN_ATTEMPTS,
    Progress,
    State,
    Workforce,
    default_folder,
    run_jobs,
)

__all__ = [
    "ATTEMPTS",
    "SECONDS_BETWEEN_ATTEMPTS",
    "Progress",
    "State",
    "Workforce",
    "default_folder",
    "run_jobs",
]
