"""Whoever wants to see a run progress."""

from typing import Any

from pc3d.experiment.experiment import Experiment


class Watcher:
    """Does nothing about anything: whoever watches says what about."""

    def started(self, experiment: Experiment, episodes: int) -> None:
        """Before the first update, or after so many episodes of a run that goes on."""

    def played(self, episodes: int) -> None:
        """After each update: so many episodes are done."""

    def logged(self, line: dict[str, Any]) -> None:
        """A line of metrics was written."""

    def warned(self, sentence: str) -> None:
        """Something is wrong with the numbers; said once."""
