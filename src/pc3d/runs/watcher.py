"""Whoever wants to see a run progress; yours, too: `pc3d train ... --watcher my_module:MyWatcher`."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

from pc3d.experiment.experiment import Experiment
from pc3d.system.errors import Pc3dError
from pc3d.system.imports import described


class Watcher:
    """Does nothing about anything: whoever watches says what about.

    Lines are flat: a number for every name, as in `metrics.jsonl`.
    """

    def started(self, experiment: Experiment, episodes: int) -> None:
        """Before the first update, or after so many episodes of a run that goes on."""

    def played(self, episodes: int) -> None:
        """After each update: so many episodes are done."""

    def logged(self, line: dict[str, Any]) -> None:
        """A line of metrics was written."""

    def evaluated(self, line: dict[str, Any]) -> None:
        """A line of evaluations on the way was written."""

    def warned(self, sentence: str) -> None:
        """Something is wrong with the numbers; said once."""

    def ended(self, done: bool) -> None:
        """Nothing more comes: the run is done, or else it was stopped or failed."""


class Watchers(Watcher):
    """Several at once. One that raises is left out from there on, with a warning: the training goes on."""

    def __init__(self, watchers: Iterable[Watcher]) -> None:
        self._watchers = list(watchers)

    def started(self, experiment: Experiment, episodes: int) -> None:
        self._tell(lambda watcher: watcher.started(experiment, episodes))

    def played(self, episodes: int) -> None:
        self._tell(lambda watcher: watcher.played(episodes))

    def logged(self, line: dict[str, Any]) -> None:
        self._tell(lambda watcher: watcher.logged(line))

    def evaluated(self, line: dict[str, Any]) -> None:
        self._tell(lambda watcher: watcher.evaluated(line))

    def warned(self, sentence: str) -> None:
        self._tell(lambda watcher: watcher.warned(sentence))

    def ended(self, done: bool) -> None:
        self._tell(lambda watcher: watcher.ended(done))

    def _tell(self, about: Callable[[Watcher], None]) -> None:
        for watcher in tuple(self._watchers):
            try:
                about(watcher)
            except Pc3dError:  # a sentence for the user, such as that the run was stopped
                raise
            except Exception as error:
                self._watchers.remove(watcher)
                name = type(watcher).__name__
                print(
                    f"pc3d: {name} no longer watches, and training goes on: {described(error)}",
                    file=sys.stderr,
                )
