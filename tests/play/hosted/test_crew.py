"""Worker processes: what they bring back, and how every way of failing ends: one sentence, nobody left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pc3d.play.hosted.crew import Crew, Hosting, Source, WorldFailed
from pc3d.play.hosted.frames import Frame, read_frame, to_bytes
from pc3d.play.hosted.parallel import ParallelWorld
from tests.play.hosted import sample_task

HERE = "tests.play.hosted.sample_task"
KEYS = np.array([[1, 11], [2, 12], [3, 13]], np.uint32)
SIZES = np.array([2, 4, 1])
STILL = np.ones((3, 4), np.int32)
ALL = np.ones(3, bool)


def crew_of(name, workers=2):
    return Crew(Source("own", f"{HERE}:{name}"), Hosting(workers))


def play(crew, steps):
    """Begin three episodes and step them, and note every view."""
    views = [crew.begin(KEYS, SIZES)]
    for _ in range(steps):
        stepped = crew.step(ALL, KEYS, STILL)
        views.append(stepped.views)
    return np.stack(views), stepped


def step_on(crew):
    for _ in range(sample_task.STEPS):
        crew.step(ALL, KEYS, STILL)


def gone(crew_processes):
    return all(process.poll() is not None for process in crew_processes)


@settings(max_examples=30, deadline=None)
@given(
    some.text(max_size=20),
    some.lists(some.sampled_from(["bool", "uint8", "int32", "uint32", "float32", "float64"]), max_size=4),
    some.lists(some.integers(0, 3), max_size=3),
)
def test_a_frame_comes_back_as_it_was_sent(words, kinds, shape):
    arrays = {
        f"{place} {kind}": np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind)
        for place, kind in enumerate(kinds)
    }
    sent = to_bytes(Frame("greeting", arrays, words))
    rest = [sent]

    def read(count):
        part, rest[0] = rest[0][:count], rest[0][count:]
        return part

    frame = read_frame(read)
    assert rest == [b""]
    assert (frame.name, frame.words, list(frame.arrays)) == ("greeting", words, list(arrays))
    for name, array in arrays.items():
        np.testing.assert_array_equal(frame.arrays[name], array)
        assert (frame.arrays[name].dtype, frame.arrays[name].shape) == (array.dtype, array.shape)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_worlds_in_any_number_of_workers_are_those_in_this_process(workers):
    worlds = [ParallelWorld(sample_task.make, int(size)) for size in SIZES]
    expected = [world.begin(key) for world, key in zip(worlds, KEYS, strict=True)]
    with crew_of("make", workers) as crew:
        np.testing.assert_array_equal(crew.begin(KEYS, SIZES), np.concatenate(expected))
        for going in (ALL, np.array([True, False, True])):
            stepped = crew.step(going, KEYS, STILL)
            steps = [
                worlds[place].step(KEYS[place], STILL[place, : SIZES[place]])
                for place in np.flatnonzero(going)
            ]
            np.testing.assert_array_equal(stepped.views, np.concatenate([step.views for step in steps]))
            np.testing.assert_array_equal(stepped.rewards, [step.reward for step in steps])
    assert crew._workers == []


def test_a_task_that_prints_and_reads_does_not_disturb_the_learner():
    with crew_of("make") as quiet, crew_of("Chatty") as chatty:
        np.testing.assert_array_equal(play(quiet, 3)[0], play(chatty, 3)[0])


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Raising", "Raising failed with 2 agents and seed 11, at step 4: step raised ValueError: the wheel"),
        (
            "Growing",
            "Growing failed with 2 agents and seed 11, at step 4: the observation of agent_0 has shape",
        ),
        (
            "Hanging",
            "Hanging did not answer within 1 s at step 3, in one of: 2 agents, seed 11; 1 agent, seed",
        ),
        ("Dying", "Dying ended its process with code 7 at step 3, in one of: 2 agents, seed 11"),
    ],
)
def test_a_failure_is_one_sentence_that_names_the_episode_and_leaves_nobody_behind(name, sentence):
    crew = crew_of(name)
    crew.begin(KEYS, SIZES)
    crew.hosting = Hosting(2, 1.0)  # only now: starting a process may take its time
    processes = [worker.process for worker in crew._workers]
    with pytest.raises(WorldFailed) as failure:
        step_on(crew)
    assert sentence in str(failure.value)
    assert failure.value.exit_code == 1
    assert gone(processes)


def test_a_task_that_cannot_be_imported_is_one_sentence():
    with Crew(Source("own", "no_such_module:make")) as crew, pytest.raises(WorldFailed, match="no module"):
        crew.begin(KEYS, SIZES)


LEARNER = f"""
import numpy as np
from pc3d.play.hosted.crew import Crew, Hosting, Source
crew = Crew(Source("own", "{HERE}:Hanging"), Hosting(2, 60.0))
crew.begin(np.array([[1, 2], [3, 4]], np.uint32), np.array([2, 2]))
for step in range(6):
    if step == 2:  # the next one hangs
        print(*(worker.process.pid for worker in crew._workers), flush=True)
    crew.step(np.ones(2, bool), np.zeros((2, 2), np.uint32), np.ones((2, 2), np.int32))
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="a worker that hangs cannot see its learner die elsewhere"
)
def test_workers_end_with_a_learner_that_is_killed_even_while_they_hang():
    learner = subprocess.Popen([sys.executable, "-c", LEARNER], stdout=subprocess.PIPE, text=True)
    workers = [int(word) for word in learner.stdout.readline().split()]
    assert len(workers) == 2
    time.sleep(1)  # until they hang, and would not notice that their pipes close
    learner.send_signal(signal.SIGKILL)
    learner.wait()
    learner.stdout.close()
    deadline = time.monotonic() + 20
    while any(alive(worker) for worker in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def alive(process_id):
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
