"""The search loop, with stand-in workers: every trial is done once, whatever happens in between."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from pc3d.jobs.local import ThisMachine
from pc3d.jobs.loop import see_to
from pc3d.jobs.tuning.plan import make_plan
from pc3d.jobs.tuning.storage import Storage
from pc3d.jobs.tuning.trial_folder import Budget, Score, TrialFolder, best_of
from pc3d.system.errors import BadInput
from tests.jobs.tuning.searches import FIXED, rates, search, small_plan, url

pytestmark = pytest.mark.usefixtures("fake_workers")


def test_a_search_finds_the_better_rate_and_never_less_than_where_it_began(tmp_path):
    records = search(tmp_path, 6, workers=2).until_done()
    assert [record.state for record in records] == ["done"] * 6
    assert rates(records)[0] == 1.84e-3
    assert best_of(records).score.validation > records[0].score.validation
    assert best_of(records).score.train == best_of(records).score.validation + 1


def test_the_same_command_with_more_trials_continues_the_search(tmp_path):
    first = search(tmp_path, 2).until_done()
    longer = search(tmp_path, 4).until_done()
    assert longer[:2] == first
    whole = search(tmp_path / "other", 4, storage=_storage(tmp_path / "other")).until_done()
    assert rates(longer) == rates(whole)
    assert len(set(rates(longer))) == 4


def test_a_dead_worker_is_started_again(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE", "die once")
    records = search(tmp_path, 2).until_done()
    assert [record.state for record in records] == ["done", "done"]


def test_a_trial_that_diverges_is_given_up_and_the_search_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE", "diverge")
    records = search(tmp_path, 2).until_done()
    assert [(record.state, record.note) for record in records] == [("given up", "diverged")] * 2


def test_trials_that_all_fail_stop_the_search_with_their_reason(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE", "fail")
    with pytest.raises(BadInput, match=r"3 trials failed one after another.*the disk is full"):
        search(tmp_path, 10).until_done()


def test_a_trial_far_behind_is_given_up_early(tmp_path):
    plan = small_plan(pruning="median")
    storage = Storage(url(tmp_path), "a search", plan, "here")
    for value in (-1.0, -2.0, -3.0, -4.0, -5.0):
        number = storage.claim().number
        assert not storage.report(number, dict.fromkeys(range(1, 11), value))
        storage.finish(number, Score(value, value))
    hopeless = storage.claim().number
    assert not storage.report(hopeless, {1: -9.0})
    assert storage.report(hopeless, {1: -9.0, 2: -9.0, 3: -9.0})
    assert not storage.report(storage.claim().number, {1: -1.0, 3: -1.0})


def test_a_search_that_ended_with_its_process_goes_on_under_the_same_numbers(tmp_path):
    left = Storage(url(tmp_path), "a search", small_plan(), "here")
    begun = [left.claim(), left.claim()]
    left.report(0, {1: -0.3})
    left.close()
    records = search(tmp_path, 3).until_done()
    assert [record.number for record in records] == [0, 1, 2]
    assert [record.state for record in records] == ["done"] * 3
    assert rates(records)[:2] == rates(begun)


def test_a_trial_of_a_lost_machine_is_tried_again_and_counts_once(tmp_path, monkeypatch):
    monkeypatch.setattr("pc3d.jobs.tuning.database.SECONDS_UNTIL_LOST", 1)
    lost = Storage(url(tmp_path), "a search", small_plan(), "a machine that dies").claim()
    time.sleep(2.1)
    records = search(tmp_path, 2, folder_id="another machine").until_done()
    assert [record.state for record in records] == ["done", "done"]
    assert lost.number not in [record.number for record in records]
    assert rates([lost])[0] in rates(records)


def test_a_machine_that_was_thought_dead_lets_its_trial_go(tmp_path, monkeypatch):
    running = search(tmp_path, 1, folder_id="slow")
    record = running.storage.claim()
    running.storage.study.tell(record.number, state=_failed_state())
    running.adopted = [running._prepared(record)]
    see_to(running, ThisMachine(1))
    assert running.running == []


def test_two_machines_share_one_storage(tmp_path):
    here = search(tmp_path / "one", 3, folder_id="one", storage=_storage(tmp_path, "one"))
    there = search(tmp_path / "two", 6, folder_id="two", storage=_storage(tmp_path, "two"))
    here.until_done()
    records = there.until_done()
    assert [record.number for record in records] == list(range(6))
    assert len(list((tmp_path / "one" / "trials").iterdir())) == 3
    assert len(list((tmp_path / "two" / "trials").iterdir())) == 3


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"budget": Budget(200, 1, 4)}, "episodes is 100 there and 200 here"),
        ({"budget": Budget(100, 2, 4)}, "seeds is 1 there and 2 here"),
        ({"pruning": "median"}, "pruning is none there and median here"),
        ({"sampler_seed": 5}, "sampler seed is 0 there and 5 here"),
    ],
)
def test_the_storage_of_another_search_is_refused_with_the_first_difference(tmp_path, changes, sentence):
    Storage(url(tmp_path), "a search", small_plan(), "here")
    with pytest.raises(BadInput, match=sentence):
        Storage(url(tmp_path), "a search", small_plan(**changes), "here")


def test_another_space_is_another_search(tmp_path):
    Storage(url(tmp_path), "a search", small_plan(), "here")
    plan = small_plan()
    wider = make_plan(plan.base, "paper", FIXED[:-1], plan.budget, "none", 0)
    with pytest.raises(BadInput, match=r"range of critic\.widths is not given there"):
        Storage(url(tmp_path), "a search", wider, "here")


@pytest.mark.parametrize(
    "content",
    [b"this is no database at all", b"SQLite format 3\x00" + b"\xff" * 4096],
    ids=["text", "damaged"],
)
def test_a_corrupt_storage_is_one_sentence(tmp_path, content):
    (tmp_path / "search.db").write_bytes(content)
    with pytest.raises(BadInput, match="the storage cannot be used") as caught:
        Storage(url(tmp_path), "a search", small_plan(), "here")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("address", ["nonsense", "redis://localhost", "postgresql://nobody@localhost:1/none"])
def test_a_bad_or_unreachable_address_is_one_sentence(address):
    with pytest.raises(BadInput, match="storage") as caught:
        Storage(address, "a search", small_plan(), "here")
    assert "\n" not in str(caught.value)


def test_a_locked_storage_is_one_sentence_and_nothing_is_lost(tmp_path, monkeypatch):
    monkeypatch.setattr("pc3d.jobs.tuning.database.SECONDS_FOR_A_LOCK", 0.1)
    begun = search(tmp_path, 2)
    begun.until_done()
    holder = sqlite3.connect(tmp_path / "search.db")
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(BadInput, match="locked by another process"):
        search(tmp_path, 3)
    holder.rollback()
    holder.close()
    assert len(search(tmp_path, 3).until_done()) == 3


def test_a_storage_that_holds_what_this_search_cannot_try_is_refused(tmp_path):
    search(tmp_path, 2).until_done()
    database = sqlite3.connect(tmp_path / "search.db")
    database.execute("UPDATE trial_params SET param_value = 0.9")
    database.commit()
    database.close()
    with pytest.raises(BadInput, match="storage is damaged: trial 0"):
        search(tmp_path, 3).until_done()


def test_a_study_that_is_not_ours_is_refused(tmp_path):
    import optuna

    study = optuna.create_study(study_name="a search", storage=url(tmp_path), direction="maximize")
    study.enqueue_trial({})
    with pytest.raises(BadInput, match="did not make"):
        Storage(url(tmp_path), "a search", small_plan(), "here")


def test_reports_of_a_later_seed_are_averaged_with_those_before_it(tmp_path):
    folder, budget = TrialFolder(tmp_path), Budget(100, 2, 4)
    for seed, value in zip(budget.seeds, (-2.0, -4.0), strict=True):
        folder.seed(seed).mkdir()
        lines = [
            f'{{"update": {n}, "episodes": {n}, "return_by_size": {{"3": {value}}}}}\n' for n in (12, 100)
        ]
        (folder.seed(seed) / "evaluations.jsonl").write_text("".join(lines))
    assert folder.reports(budget, (3,)) == {1: -2.0, 10: -2.0, 11: -3.0, 20: -3.0}
    assert budget.last_step == 20


COMMAND = """
import sys
from pc3d.cli import main
from pc3d.jobs import local, loop
from tests.jobs.tuning.searches import start_fake_worker
local.start_worker = start_fake_worker
loop.SECONDS_BETWEEN_LOOKS = 0.05
sys.exit(main(sys.argv[1:]))
"""


def start_command(folder, trials, seconds="0") -> subprocess.Popen:
    words = ["tune", "spread", "mappo", "--folder", str(folder), "--workers", "1", "--trials", str(trials)]
    words += ["--episodes", "100", "--pruning", "none", "--fix", *FIXED]
    environment = {**os.environ, "FAKE_SECONDS": seconds}
    command = [sys.executable, "-c", COMMAND, *words]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=os.getcwd()
    )


def wait_for(path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert path.exists()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    whole = start_command(folder, 3)
    output, errors = whole.communicate(timeout=120)
    assert whole.returncode == 0, errors
    assert "won: validation" in output
    return folder / "spread" / "mappo"


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGKILL, -signal.SIGKILL), pytest.param(signal.SIGINT, 75, marks=pytest.mark.slow)],
)
def test_a_killed_or_interrupted_command_continues_to_the_same_end(tmp_path, undisturbed, number, code):
    place = tmp_path / "spread" / "mappo"
    stopped = start_command(tmp_path, 3, seconds="0.3")
    wait_for(place / "trials" / "0001" / "begun")
    stopped.send_signal(number)
    _, errors = stopped.communicate(timeout=60)
    assert stopped.returncode == code
    assert "Traceback" not in errors
    again = start_command(tmp_path, 3)
    _, errors = again.communicate(timeout=120)
    assert again.returncode == 0, errors
    for name in ("trials.csv", "preset.toml", "search.svg"):
        assert (place / name).read_text() == (undisturbed / name).read_text(), name


def _storage(folder, folder_id="here"):
    folder.mkdir(exist_ok=True)
    return Storage(url(folder), "a search", small_plan(), folder_id)


def _failed_state():
    from optuna.trial import TrialState

    return TrialState.FAIL
