"""A replay on disk: read back bit for bit, kept for as long as a checkpoint needs it, and no longer."""

import json
import signal
from dataclasses import dataclass, replace
from typing import ClassVar

import jax
import numpy as np
import pytest

from pc3d.experiment import methods
from pc3d.experiment.algorithm_settings import ReplaySettings
from pc3d.experiment.ppo_settings import PpoSettings
from pc3d.experiment.rosters import Curriculum, Stage
from pc3d.learners import registry
from pc3d.learners.replay import Replay
from pc3d.play.arena import CompiledArena
from pc3d.runs.checkpoint import LARGEST_HEADER, named_arrays, read_description, save_tree, to_bytes
from pc3d.runs.replay_folder import KIND, MOST_ROUNDS, ReplayFolder
from pc3d.runs.run_folder import RunFolder
from pc3d.runs.train import Habits, check, train
from pc3d.runs.watcher import Watcher
from pc3d.system.errors import BadInput, DamagedFile, Interrupted
from pc3d.system.files import digest_of
from pc3d.tasks.make import make_game
from tests.runs.made_up_rounds import made_round
from tests.runs.runs import digests
from tests.small import small_experiment

CAPACITY = 7  # three rounds of three episodes
KEPT_CHECKPOINTS = 2


def replay_in(path, capacity: int = CAPACITY) -> ReplayFolder:
    return ReplayFolder(path, Replay(ReplaySettings(capacity, drawn=30)))


def play(folder: ReplayFolder, numbers, **more) -> None:
    for number in numbers:
        folder.replay.add(number, made_round(number, **more))
        folder.write_newest()


def said_by_checkpoint(folder: ReplayFolder):
    """What a checkpoint holds of it, once it has been written and read."""
    return json.loads(json.dumps(folder.held()))


def files(folder: ReplayFolder) -> list[int]:
    return sorted(int(path.stem) for path in folder.path.glob("*.safetensors"))


def rounds(folder: ReplayFolder) -> list[int]:
    return [number for number, _ in folder.replay.rounds]


def bits(episodes) -> list[tuple]:
    return [(leaf.dtype, leaf.shape, np.asarray(leaf).tobytes()) for leaf in jax.tree.leaves(episodes)]


@pytest.mark.parametrize("states", [False, True])
@pytest.mark.parametrize("kept", ["array", "table", "nothing"])
def test_what_is_written_and_restored_is_bit_equal(tmp_path, kept, states):
    written, restored = replay_in(tmp_path), replay_in(tmp_path)
    play(written, range(1, 6), kept=kept, states=states)
    restored.restore(said_by_checkpoint(written))
    assert rounds(restored) == rounds(written) == [3, 4, 5]
    for (_, before), (_, after) in zip(written.replay.rounds, restored.replay.rounds, strict=True):
        assert jax.tree.structure(after) == jax.tree.structure(before)
        assert bits(after) == bits(before)


def test_odd_bits_come_back_too(tmp_path):
    """Not-a-number with its payload, the smallest number, zero with a sign, and no measures at all."""
    odd = np.array([0x7FC01234, 0x00000001, 0x80000000], np.uint32).view(np.float32)
    episodes = replace(made_round(1), total_reward=odd, measures={})
    written, restored = replay_in(tmp_path), replay_in(tmp_path)
    written.replay.add(1, episodes)
    written.write_newest()
    restored.restore(said_by_checkpoint(written))
    assert bits(restored.replay.rounds[0][1]) == bits(written.replay.rounds[0][1])
    assert restored.replay.rounds[0][1].measures == {}


def test_a_restored_replay_goes_on_as_if_nothing_had_happened(tmp_path):
    """Also if more was played and written after the checkpoint, and is now played again."""
    whole = replay_in(tmp_path / "whole")
    play(whole, range(1, 9))
    stopped = replay_in(tmp_path / "stopped")
    play(stopped, range(1, 6))
    said = said_by_checkpoint(stopped)
    play(stopped, range(6, 8))
    resumed = replay_in(tmp_path / "stopped")
    resumed.restore(said)
    play(resumed, range(6, 9))
    assert resumed.held() == whole.held()
    assert bits(resumed.replay.drawn(0, 8)) == bits(whole.replay.drawn(0, 8))


def test_what_no_kept_checkpoint_needs_is_removed_and_nothing_else(tmp_path):
    folder, checkpoints = replay_in(tmp_path), []
    for number in range(1, 12):
        play(folder, [number])
        if number % 2:  # a checkpoint after every second round
            checkpoints.append(rounds(folder))
            folder.checkpointed(KEPT_CHECKPOINTS)
            oldest = min(needed[0] for needed in checkpoints[-KEPT_CHECKPOINTS:])
            assert files(folder) == list(range(oldest, number + 1))
    assert checkpoints[-1] == [9, 10, 11]


def test_after_a_resume_what_the_older_checkpoint_needs_is_there_until_a_new_one_is_made(tmp_path):
    folder = replay_in(tmp_path)
    play(folder, range(1, 6))
    folder.checkpointed(KEPT_CHECKPOINTS)
    older = said_by_checkpoint(folder)
    play(folder, range(6, 9))
    folder.checkpointed(KEPT_CHECKPOINTS)
    newer = said_by_checkpoint(folder)
    for said in (newer, older):  # the newest may be damaged, and the one before it serves
        resumed = replay_in(tmp_path)
        resumed.restore(said)
        assert files(resumed) == [3, 4, 5, 6, 7, 8]
    play(resumed, range(6, 8))
    resumed.checkpointed(KEPT_CHECKPOINTS)
    assert files(resumed) == [3, 4, 5, 6, 7, 8], "the checkpoint that it was resumed from needs them"
    replay_in(tmp_path).restore(older)


def test_files_of_others_stay_where_they_are(tmp_path):
    others = (
        "0notes.safetensors",
        "1.safetensors",
        "0000000001.safetensors",
        "000000001.txt",
        "old.safetensors",
    )
    folder = replay_in(tmp_path)
    for name in others:
        (tmp_path / name).write_text("somebody's")
    play(folder, range(1, 8))
    for _ in range(KEPT_CHECKPOINTS):
        folder.checkpointed(KEPT_CHECKPOINTS)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted([*others, *(f"{number:09d}.safetensors" for number in (5, 6, 7))])


def cut_short(path):
    path.write_bytes(path.read_bytes()[:-1])


def with_a_flipped_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def emptied(path):
    path.write_bytes(b"")


def of_another_round(path):
    path.write_bytes((path.parent / "000000004.safetensors").read_bytes())


def of_another_run(path):
    other = replay_in(path.parent / "other")
    other.replay.add(5, made_round(50))
    other.write_newest()
    path.write_bytes((path.parent / "other" / path.name).read_bytes())


def with_a_policy_in_it(path):
    save_tree(path, {"actor": np.zeros(3, np.float32)}, {"kind": "policy"})


@pytest.mark.parametrize(
    "damage",
    [cut_short, with_a_flipped_bit, emptied, of_another_round, of_another_run, with_a_policy_in_it],
)
def test_a_damaged_or_foreign_file_is_refused(tmp_path, damage):
    folder = replay_in(tmp_path)
    play(folder, range(1, 6))
    said = said_by_checkpoint(folder)
    damage(tmp_path / "000000005.safetensors")
    assert "000000005.safetensors is damaged" in refusal(tmp_path, said)


def test_a_file_that_is_gone_is_named(tmp_path):
    folder = replay_in(tmp_path)
    play(folder, range(1, 6))
    (tmp_path / "000000004.safetensors").unlink()
    assert "000000004.safetensors cannot be read" in refusal(tmp_path, said_by_checkpoint(folder))


def refusal(path, said) -> str:
    with pytest.raises(DamagedFile) as refused:
        replay_in(path).restore(said)
    assert "\n" not in str(refused.value)
    return str(refused.value)


FOREIGN = {
    "nothing": {},
    "other arrays": {"actor": np.zeros(3, np.float32)},
    "a part too few": {
        name: array for name, array in named_arrays(made_round(1)).items() if name != "rewards"
    },
    "a part too many": {**named_arrays(made_round(1)), "future": np.zeros(3, np.float32)},
    "an array that is also a table": {**named_arrays(made_round(1)), "rewards.x": np.zeros(3, np.float32)},
    "a part without a name": {**named_arrays(made_round(1)), "global_states.": np.zeros(3, np.float32)},
}


@pytest.mark.parametrize(
    ("arrays", "kind"),
    [*((arrays, KIND) for arrays in FOREIGN.values()), (named_arrays(made_round(1)), {"kind": "policy"})],
    ids=[*FOREIGN, "another kind"],
)
def test_a_checkpoint_that_names_something_else_for_a_round_is_refused(tmp_path, arrays, kind):
    """With every checksum right, as only somebody who means it can do."""
    folder = replay_in(tmp_path)
    play(folder, [1])
    said = said_by_checkpoint(folder)
    content = to_bytes(arrays, kind)
    (tmp_path / "000000001.safetensors").write_bytes(content)
    said[0]["digest"] = digest_of(content)
    assert "does not hold played episodes" in refusal(tmp_path, said)


@pytest.mark.parametrize(
    "said",
    [None, 3, "x", {}, {"1": "x"}, [1], ["../outside"], [{"number": "1", "digest": ""}], [{"number": 1}]],
    ids=repr,
)
def test_what_no_checkpoint_says_of_a_replay_is_refused(tmp_path, said):
    with pytest.raises(BadInput, match="the replay of a checkpoint"):
        replay_in(tmp_path).restore(said)


@pytest.mark.parametrize("number", [-1, 0, 10**12, 2**62])
def test_a_round_that_was_never_played_is_refused(tmp_path, number):
    assert "cannot be read" in refusal(tmp_path, [{"number": number, "digest": "x"}])


@dataclass(frozen=True)
class ReplayedPpoSettings(PpoSettings):
    """PPO on what a replay holds, too: as an algorithm not a good one, but it needs nothing else."""

    section: ClassVar[str] = "replayed"

    @property
    def replay(self):
        return ReplaySettings(capacity=5, drawn=4)


TWO_STAGES = Curriculum((Stage(0.5, (1,), (1.0,)), Stage(0.5, (2,), (1.0,))))


@pytest.fixture
def replayed(monkeypatch):
    """An experiment whose algorithm learns from a replay, over two stages of different widths."""
    row = replace(methods.METHODS["mappo"], algorithm=ReplayedPpoSettings)
    monkeypatch.setitem(methods.METHODS, "replayed-mappo", row)
    monkeypatch.setitem(registry.ALGORITHMS, ReplayedPpoSettings, registry.ALGORITHMS[PpoSettings])
    usual = small_experiment("mappo", episodes=18, curriculum=TWO_STAGES)
    return replace(usual, method="replayed-mappo", algorithm=ReplayedPpoSettings(**vars(usual.algorithm)))


class StopAfter(Watcher):
    """A watcher that plays the part of Ctrl-C."""

    def __init__(self, update):
        self.update = update

    def logged(self, line):
        if line["update"] == self.update:
            signal.raise_signal(signal.SIGINT)


def cut_into_sequences(method):
    """One of the package's own, with sequences cut from its episodes."""
    usual = small_experiment(method, episodes=18, curriculum=TWO_STAGES)
    return replace(usual, algorithm=replace(usual.algorithm, sequence_steps=9, burn_in=4))


@pytest.fixture
def factored():
    return cut_into_sequences("pc3d-qmix")


def with_memories(method):
    usual = cut_into_sequences(method)
    return replace(usual, algorithm=replace(usual.algorithm, stored_memory=True))


@pytest.fixture(
    params=[
        "pc3d-qmix",
        "copa",
        "masac remembers",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in (
                *("replayed", "vdn remembers", "pc3d-maddpg", "matd3", "masac"),
                *("ctds", "refil", "sog", "mipi"),
            )
        ),
    ]
)
def with_replay(request):
    """An algorithm of each kind that has one, the quickest ones for every run; some with memories of play."""
    if request.param == "replayed":
        return request.getfixturevalue("replayed")
    method, *remembers = request.param.split()
    return (with_memories if remembers else cut_into_sequences)(method)


def test_a_stopped_run_with_a_replay_ends_with_the_same_bits(tmp_path, with_replay):
    experiment = with_replay
    habits, arena = Habits(checkpoint_every=3, tensorboard=False), CompiledArena(make_game(experiment))
    whole = train(experiment, arena, tmp_path / "whole", habits)
    for update in (2, 4):
        with pytest.raises(Interrupted):
            train(experiment, arena, tmp_path / "stopped", habits, StopAfter(update))
    stopped = train(experiment, arena, tmp_path / "stopped", habits)
    assert digests(stopped.path) == digests(whole.path)
    for run in (stopped, whole):
        assert sorted(path.stem for path in run.replay.iterdir()) == needed_by_checkpoints(run)


def test_a_run_whose_replay_is_damaged_does_not_go_on_and_says_which_file_it_is(tmp_path, factored):
    habits, arena = Habits(checkpoint_every=3, tensorboard=False), CompiledArena(make_game(factored))
    with pytest.raises(Interrupted):
        train(factored, arena, tmp_path, habits, StopAfter(2))
    shard = sorted((tmp_path / "replay").iterdir())[-1]
    with_a_flipped_bit(shard)
    with pytest.raises(DamagedFile, match=f"{shard.name} is damaged"):
        train(factored, arena, tmp_path, habits)


def test_a_replay_of_more_rounds_than_a_checkpoint_can_name_is_refused(factored):
    arena = CompiledArena(make_game(factored))
    most = replace(factored.algorithm, capacity=MOST_ROUNDS * factored.episodes_per_update)
    check(replace(factored, algorithm=most), arena)
    more = replace(most, capacity=most.capacity + 1)
    with pytest.raises(BadInput, match="remember fewer"):
        check(replace(factored, algorithm=more), arena)
    named = json.dumps([{"number": 10**9, "digest": digest_of(b"")}] * MOST_ROUNDS)
    assert len(named) < LARGEST_HEADER - 2**16  # the rest of a checkpoint's description has room


def test_sequences_do_not_show_whether_time_was_up_so_that_must_not_matter(factored):
    recipe = replace(factored.recipe, horizon_bootstraps=False)
    arena = CompiledArena(make_game(factored))
    with pytest.raises(BadInput, match="sequence_steps must be at least 25"):
        check(replace(factored, recipe=recipe), arena)


def needed_by_checkpoints(run: RunFolder) -> list[str]:
    named = [read_description(path)["replay"] for path in run.checkpoints.glob("*.safetensors")]
    assert len(named) == KEPT_CHECKPOINTS
    return sorted({f"{one['number']:09d}" for rounds in named for one in rounds})
