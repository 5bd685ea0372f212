"""Which failures end a job, and which only delay it."""

from pathlib import Path

import pytest

from pc3d.jobs import loop
from pc3d.jobs.loop import Progress, State, run_jobs
from pc3d.jobs.study import Job, Way
from pc3d.system.errors import BadInput, DamagedFile
from pc3d.system.processes import start_worker

DIVERGED, INTERRUPTED, CRASHED, FINE = 3, 75, -9, 0


class Script:
    """A crew whose commands end as told, one after another; each may leave a checkpoint first."""

    def __init__(self, *endings: tuple[int, str]) -> None:
        self.endings = list(endings)
        self.started = 0

    def places(self) -> int:
        return 1

    def start(self, job: Job) -> "Ended":
        self.started += 1
        code, checkpoint = self.endings.pop(0)
        if checkpoint:
            (job.folder / "checkpoint").mkdir(parents=True, exist_ok=True)
            (job.folder / "checkpoint" / f"{checkpoint}.safetensors").touch()
        if code == FINE:
            (job.folder / "done.json").touch()
            (job.folder / "scores.csv").touch()
        return Ended(code)


class Ended:
    """A command that is over as soon as somebody asks."""

    begun = True

    def __init__(self, code: int) -> None:
        self.code = code

    def poll(self) -> int:
        return self.code

    def stop(self) -> None: ...

    def complaint(self) -> str:
        return "as told"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(loop, "SECONDS_BETWEEN_ATTEMPTS", 0.0)


def outcome(folder: Path, crew: Script) -> Progress:
    (progress,) = run_jobs([Job("spread", "mappo", 0, folder, (), 2)], crew, lambda _: None)
    return progress


def test_three_failures_on_the_same_spot_end_a_job(tmp_path):
    crew = Script((CRASHED, "01"), (CRASHED, ""), (CRASHED, ""), (FINE, ""))
    assert outcome(tmp_path, crew).state is State.FAILED
    assert crew.started == 3


def test_a_job_that_advances_may_fail_any_number_of_times(tmp_path):
    crew = Script(*((CRASHED, f"0{number}") for number in range(6)), (FINE, ""))
    assert outcome(tmp_path, crew).state is State.DONE
    assert crew.started == 7


def test_one_evaluation_after_the_other_is_no_failure(tmp_path):
    class InTurn(Script):
        """A command leaves what the job waits for, one file each time."""

        def start(self, job: Job) -> Ended:
            self.started += 1
            (job.folder / ("done.json", "scores.csv", "links.json", "coach.json")[self.started - 1]).touch()
            return Ended(FINE)

    ways = (Way("--links-dropped", "1", "links.json"), Way("--coach-every", "never", "coach.json"))
    crew = InTurn()
    (progress,) = run_jobs([Job("spread", "copa", 0, tmp_path, (), 2, ways)], crew, lambda _: None)
    assert (progress.state, progress.attempts, crew.started) == (State.DONE, 0, 4)


def test_being_stopped_is_no_failure(tmp_path):
    crew = Script(*((INTERRUPTED, ""),) * 5, (FINE, ""))
    assert outcome(tmp_path, crew).state is State.DONE


def test_a_job_that_diverged_is_not_tried_again(tmp_path):
    crew = Script((DIVERGED, ""), (FINE, ""))
    progress = outcome(tmp_path, crew)
    assert progress.state is State.FAILED
    assert progress.error == "as told"


def test_a_job_that_cannot_be_started_fails_alone(tmp_path, monkeypatch):
    crew = Script((FINE, ""))
    start = crew.start

    def refuse_the_first(job):
        if job.seed == 0:
            raise BadInput("somebody else works here")
        return start(job)

    monkeypatch.setattr(crew, "start", refuse_the_first)
    jobs = [Job("spread", "mappo", seed, tmp_path / str(seed), (), 2) for seed in (0, 1)]
    jobs[1].folder.mkdir()
    refused, other = run_jobs(jobs, crew, lambda _: None)
    assert (refused.state, refused.error) == (State.FAILED, "somebody else works here")
    assert other.state is State.DONE


class Endless(Ended):
    """A command that goes on until it is stopped."""

    def __init__(self) -> None:
        self.code = None

    def stop(self) -> None:
        self.code = INTERRUPTED


def test_whatever_ends_a_study_no_run_goes_on_alone(tmp_path, monkeypatch):
    crew, work = Script(), Endless()
    monkeypatch.setattr(crew, "start", lambda _: work)

    def damaged(_):
        raise DamagedFile("metrics.jsonl is damaged")

    with pytest.raises(DamagedFile):
        run_jobs([Job("spread", "mappo", 0, tmp_path, (), 2)], crew, damaged)
    assert work.code == INTERRUPTED


def test_a_folder_that_cannot_be_written_to_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match=r"writing to .*file/run was not possible"):
        start_worker(["tasks"], tmp_path / "file" / "run" / "errors.log")
