"""An environment that breaks in mid-run: the episode is named, nobody is left, and a sound one goes on."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from pc3d.experiment.rosters import Curriculum, Stage
from pc3d.experiment.world import Rules
from pc3d.play.arena import HostedArena
from pc3d.play.hosted.crew import Crew, Hosting, Source, WorldFailed
from pc3d.play.hosted.original import rules_as_words
from pc3d.runs.metrics import read_lines
from pc3d.runs.train import Habits, train
from pc3d.runs.watcher import Watcher
from pc3d.tasks.make import make_game
from tests.faults.faulty_worlds import STEP, VICTIMS
from tests.faults.tiny_runs import children_of
from tests.play.hosted.tiny import sample_crew, tiny_experiment
from tests.runs.runs import digests
from tests.small import small_experiment

HABITS = Habits(tensorboard=False, checkpoint_every=4, log_every=1)
SECONDS = 2.0  # after which a world counts as hanging, once its worker has started
SAID = {
    "Throwing": "failed with .* step raised ValueError: the wheel came off",
    "Widening": r"failed with .* shape \(3,\)",
    "Hanging": f"did not answer within {SECONDS:g} s",
    "HangingForGood": f"did not answer within {SECONDS:g} s",
    "Exiting": "ended its process with code 7",
    "Crashing": "ended its process with code -11",
}
ORIGINAL = Source("original", "lbf", rules_as_words(Rules()))
SAID_OF_ORIGINALS = {
    "throwing": "failed with .* ValueError: the wheel came off",
    "of the wrong shape": "failed with .* shape",
    "hanging": f"did not answer within {SECONDS:g} s",
    "exiting": "ended its process with code 7",
}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, sound):
    folder = tmp_path_factory.mktemp("undisturbed")
    train(long_experiment(), hosted(long_experiment(), sound), folder, HABITS)
    return digests(folder)


@pytest.fixture(scope="module")
def sound():
    """Workers whose worlds do not break: they serve all tests here."""
    with sample_crew() as crew:
        yield crew


@pytest.fixture(scope="module")
def sound_originals():
    with Crew(ORIGINAL) as crew:
        yield crew


def hosted(experiment, crew):
    return HostedArena(make_game(experiment), crew)


class Impatient(Watcher):
    """A watcher that wants answers soon, but only after the first update: starting a worker takes time."""

    def __init__(self, crew):
        self.crew = crew

    def logged(self, line):
        self.crew.hosting = replace(self.crew.hosting, env_timeout=SECONDS)


def long_experiment():
    return replace(tiny_experiment(), episodes=32)


@pytest.mark.parametrize("name", SAID)
def test_a_world_that_breaks_in_mid_run_is_named_and_leaves_nobody_behind(
    name, tmp_path, sound, undisturbed, count, figure, monkeypatch
):
    monkeypatch.setenv(VICTIMS, str(tmp_path / "victims"))
    numbers_of_workers = range(1, 1 + count(3, 1))
    for workers in numbers_of_workers:
        folder, before = tmp_path / str(workers), children_of(os.getpid())
        crew = Crew(Source("own", f"tests.faults.faulty_worlds:{name}"), Hosting(workers))
        with pytest.raises(WorldFailed, match=SAID[name]) as failure, crew:
            train(long_experiment(), hosted(long_experiment(), crew), folder, HABITS, Impatient(crew))
        said = str(failure.value)
        assert set(re.findall(r"seed (\d+)", said)) & set((tmp_path / "victims").read_text().split()), said
        assert re.search(rf"at step {STEP}\b", said), said
        assert children_of(os.getpid()) == before
        assert 0 < len(read_lines(folder / "metrics.jsonl")) < long_experiment().updates
        train(long_experiment(), hosted(long_experiment(), sound), folder, HABITS)
        assert digests(folder) == undisturbed
    happened = "named with seed and step, no process left; with a sound world the run continues"
    figure(f"an environment in mid-run: {name}", len(numbers_of_workers), happened, "0 bits differ")


@pytest.mark.parametrize("kind", SAID_OF_ORIGINALS)
def test_an_original_that_breaks_in_mid_run_is_named_and_leaves_nobody_behind(
    kind, tmp_path, sound_originals, figure, monkeypatch
):
    one_stage = Curriculum((Stage(1.0, (2,), (1.0,)),))
    experiment = small_experiment("mappo", "lbf", episodes=16, curriculum=one_stage, backend="original")
    before = children_of(os.getpid())
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent / "faulty_original"), prepend=os.pathsep)
        patch.setenv("PC3D_TEST_FAULT", kind)
        crew = Crew(ORIGINAL)
        with pytest.raises(WorldFailed, match=SAID_OF_ORIGINALS[kind]) as failure, crew:
            train(experiment, hosted(experiment, crew), tmp_path, HABITS, Impatient(crew))
    said = str(failure.value)
    assert re.search(r"2 agents(,| and) seed \d+", said), said
    assert re.search(rf"at step {STEP}\b", said), said
    assert children_of(os.getpid()) == before
    assert 0 < len(read_lines(tmp_path / "metrics.jsonl")) < experiment.updates
    train(experiment, hosted(experiment, sound_originals), tmp_path, HABITS)
    happened = "named with seed and step, no process left; with a sound one the run continues"
    figure(f"an original environment in mid-run: {kind}", 1, happened, "")


class TellingAllWorkers(Watcher):
    """A watcher that sends every worker a signal after the first update, as a scheduler does."""

    def __init__(self, crew, number):
        self.crew, self.number = crew, number

    def logged(self, line):
        if line["update"] == 1:
            for worker in self.crew._workers:
                worker.process.send_signal(self.number)


def test_workers_leave_it_to_the_learner_when_to_stop(tmp_path, undisturbed, figure):
    for number in (signal.SIGTERM, signal.SIGINT):
        with sample_crew(2) as crew:
            arena, watcher = hosted(long_experiment(), crew), TellingAllWorkers(crew, number)
            train(long_experiment(), arena, tmp_path / number.name, HABITS, watcher)
        assert digests(tmp_path / number.name) == undisturbed
    figure("SIGTERM or Ctrl-C to the workers of worlds", 4, "the learner alone decides when to stop", "")
