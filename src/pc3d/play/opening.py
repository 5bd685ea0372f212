"""Opening the arena of an experiment: compiled worlds, the original packages, or an own task's own code."""

from collections.abc import Iterator
from contextlib import contextmanager

from pc3d.experiment.experiment import Experiment
from pc3d.play.arena import Arena, CompiledArena, HostedArena
from pc3d.play.hosted.crew import DEFAULT_HOSTING, Crew, Hosting, Source
from pc3d.play.hosted.original import rules_as_words
from pc3d.system.errors import BadInput
from pc3d.tasks.make import make_game
from pc3d.tasks.registry import TASKS


@contextmanager
def open_arena(
    experiment: Experiment,
    named: str | None = None,
    hosting: Hosting = DEFAULT_HOSTING,
    *,
    original: bool = False,
) -> Iterator[Arena]:
    """Where an experiment's task is played; a crew that steps its worlds goes when it is done.

    Code that a file names is run only if the user named the same.
    """
    source, game = _source(experiment, named, original=original), make_game(experiment)
    if source is None:
        yield CompiledArena(game)
    else:
        with Crew(source, hosting) as crew:
            yield HostedArena(game, crew)


def _source(experiment: Experiment, named: str | None, *, original: bool) -> Source | None:
    """Whose worlds are stepped on the host, if any are."""
    if original:
        if experiment.world is not None:
            raise BadInput(f"{experiment.task} is your own task: there is no other original of it")
        if experiment.mixes:
            raise BadInput("unlike agents are played in our own worlds: leave --backend original away")
        if not experiment.rules.of_original:
            raise BadInput(f"the original package of {experiment.task} does not know all of these rules")
        return Source("original", experiment.task, rules_as_words(experiment.rules))
    if experiment.world is None or experiment.task in TASKS:
        return None
    if named != experiment.task:
        given = f", not {named}" if named else ""
        raise BadInput(
            f"{experiment.task} is what a file names here, and no file may make pc3d run that code: "
            f"if you trust it, name it with --task {experiment.task}{given}"
        )
    return Source("own", experiment.task)
