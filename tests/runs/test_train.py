"""Training's manners: bad input, foreign folders, divergence, what a run leaves behind."""

import json
import signal
import struct
from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors import safe_open
from tensorboardX.proto.event_pb2 import Event

from pc3d.cli import main
from pc3d.experiment.methods import METHODS
from pc3d.experiment.rosters import Curriculum, Stage
from pc3d.learners import round as rounds
from pc3d.learners.distillation import flat_attention
from pc3d.learners.ppo import descent
from pc3d.learners.ppo.algorithm import Ppo
from pc3d.networks import teacher
from pc3d.play.arena import CompiledArena
from pc3d.presets import paper as experiments
from pc3d.presets.experiment_file import to_plain
from pc3d.runs import metrics
from pc3d.runs import train as training
from pc3d.runs.checkpoint import DamagedFile, load_tree, read_file, save_tree
from pc3d.runs.line_contract import read_metrics
from pc3d.runs.metrics import read_lines
from pc3d.runs.run_folder import RunFolder
from pc3d.runs.train import Habits
from pc3d.runs.watcher import Watcher
from pc3d.system.errors import BadInput, Diverged, Interrupted
from pc3d.system.files import one_owner
from pc3d.tasks.make import make_game
from tests.small import small_experiment

QUIET = Habits(tensorboard=False, checkpoint_every=3)
SCORED = replace(QUIET, evaluate_every=3, evaluation_rollouts=2)


# One stage, so that one program is compiled.
PAIRS = Curriculum((Stage(1.0, (1, 2), (0.5, 0.5)),))


def tiny(method="mappo", **changes):
    return small_experiment(method, episodes=6, curriculum=PAIRS, **changes)


def train(experiment, *rest):
    return training.train(experiment, CompiledArena(make_game(experiment)), *rest)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    return train(tiny("pc3d"), folder, replace(SCORED, tensorboard=True))


def test_the_policy_file_opens_with_plain_safetensors_and_describes_itself(finished):
    with safe_open(finished.final, framework="numpy") as file:
        names, metadata = set(file.keys()), file.metadata()
    assert {"actor.encoder.layers.0.weight", "teacher.queries"} <= names
    assert '"method": "pc3d"' in metadata["pc3d"]
    assert "return_definition" in metadata["pc3d"]


def test_a_run_leaves_metrics_evaluations_events_and_a_clock(finished):
    lines = read_lines(finished.metrics)
    assert [line["episodes"] for line in lines] == [3, 6]
    assert all(line["stage"] >= 1 and line["return"] < 0 for line in lines)
    scored = read_lines(finished.evaluations)
    assert set(scored[0]["return_by_size"]) == {"1", "2", "3", "4", "5", "6", "7", "8"}
    assert list((finished.path / "tensorboard").iterdir())
    assert read_lines(finished.clock)[0]["updates"] == 2


class Listener(Watcher):
    """A watcher that keeps what it is warned of."""

    def __init__(self):
        self.sentences = []

    def warned(self, sentence):
        self.sentences.append(sentence)


class Failing(Watcher):
    """A watcher whose server is gone."""

    def logged(self, line):
        raise ConnectionError("nobody answers")


def test_a_watcher_that_raises_changes_nothing_but_one_line_of_warning(finished, tmp_path, capsys):
    run = train(tiny("pc3d"), tmp_path / "run", QUIET, Failing())
    assert capsys.readouterr().err.count("Failing no longer watches") == 1
    assert run.done
    assert run.metrics.read_bytes() == finished.metrics.read_bytes()


class Notes(Watcher):
    """A watcher that keeps all it is told."""

    def __init__(self):
        self.lines, self.scored, self.ends = [], [], []

    def logged(self, line):
        self.lines.append(line)

    def evaluated(self, line):
        self.scored.append(line)

    def ended(self, done):
        self.ends.append(done)


def test_a_watcher_is_told_what_the_files_say_and_that_it_is_over(finished, tmp_path):
    notes = Notes()
    train(tiny("pc3d"), tmp_path / "run", SCORED, notes)
    for told, path in ((notes.lines, finished.metrics), (notes.scored, finished.evaluations)):
        assert told == [json.loads(line) for line in path.read_text().splitlines()]
        assert all(type(value) in (int, float) for line in told for value in line.values())
    assert notes.ends == [True]


def test_a_run_whose_first_lines_have_the_older_shape_goes_on(finished, tmp_path, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr(metrics, "flat", lambda line: line)
        with pytest.raises(Interrupted):
            train(tiny("pc3d"), tmp_path / "run", QUIET, StopAfter(1))
    run = train(tiny("pc3d"), tmp_path / "run", QUIET)
    first, second = run.metrics.read_text().splitlines()
    assert "return_by_size" in first
    assert "return_by_size" not in second
    assert read_metrics(run.metrics) == read_metrics(finished.metrics)
    assert run.final.read_bytes() == finished.final.read_bytes()


@pytest.mark.parametrize(("sharpness", "warnings"), [(1e-3, 1), (30.0, 0)])
def test_a_run_whose_attention_collapses_says_so_once(tmp_path, monkeypatch, sharpness, warnings):
    """Encodings that are much shorter than √d cannot tell agents and tokens apart."""
    monkeypatch.setattr(
        teacher, "encoded", lambda encoder, seen, **_: sharpness * jax.nn.standardize(encoder(seen))
    )
    jax.clear_caches()  # or the programs of before would be taken
    listener = Listener()
    train(tiny("pc3d"), tmp_path / "run", QUIET, listener)
    jax.clear_caches()
    assert len(listener.sentences) == warnings
    for sentence in listener.sentences:
        assert "attention is flat" in sentence
        assert "--critic.normalise-encodings True" in sentence


def test_an_agent_alone_has_no_teammates_whose_contexts_could_be_alike():
    assert flat_attention({"attention_over_tokens": 1.0}) is None
    both = {"attention_over_agents": 0.5, "attention_over_tokens": 1.0}
    assert "1.000 over tokens" in str(flat_attention(both))


def test_where_nobody_watches_a_flat_attention_is_said_on_the_error_output(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Ppo, "concern", lambda *_: "something is wrong")
    train(tiny("pc3d"), tmp_path / "run", QUIET)
    assert capsys.readouterr().err == "pc3d: something is wrong\n"


def test_metrics_tell_the_health_of_teacher_and_students(finished):
    last = read_lines(finished.metrics)[-1]
    assert 0 < last["attention_over_agents"] <= 1 + 1e-6
    assert 0 < last["attention_over_tokens"] <= 1 + 1e-6
    assert 1 <= last["effective_tokens"] <= 3
    assert 0 <= last["personal_share"] <= 1 + 1e-6
    assert last["variance_explained"] < 1
    assert abs(last["alignment"]) <= 1 + 1e-6
    assert last["gate_deviation"] >= 0


def test_more_environments_are_more_episodes_to_an_update(tmp_path):
    three_episodes = tiny()
    ppo = replace(three_episodes.algorithm, update_every_episodes=1)
    three_environments = replace(
        three_episodes, algorithm=ppo, recipe=replace(three_episodes.recipe, environments=3)
    )
    assert three_environments.updates == three_episodes.updates == 2
    runs = [
        train(experiment, tmp_path / str(place), QUIET)
        for place, experiment in enumerate((three_episodes, three_environments))
    ]
    assert runs[0].metrics.read_bytes() == runs[1].metrics.read_bytes()


def test_tensorboard_events_hold_the_metrics_and_a_mark_where_the_run_began(finished):
    (path,) = (finished.path / "tensorboard").iterdir()
    content, events = path.read_bytes(), []
    while content:
        (length,) = struct.unpack("<Q", content[:8])
        events.append(Event.FromString(content[12 : 12 + length]))
        content = content[16 + length :]
    assert events[0].file_version == "brain.Event:2"
    assert events[1].step == 1
    logged, scored = (
        {value.tag: value.simple_value for value in event.summary.value} for event in events[-2:]
    )
    last = read_lines(finished.metrics)[-1]
    assert events[-2].step == events[-1].step == last["episodes"]
    assert logged["training/entropy"] == pytest.approx(last["entropy"])
    assert scored.keys() == {f"evaluation_by_team_size/{size}" for size in range(1, 9)}
    assert {tag for tag in logged if tag.startswith("return_by")} == {
        f"return_by_team_size/{size}" for size in last["return_by_size"]
    }


def test_a_folder_of_another_experiment_is_refused_with_the_difference(finished):
    with pytest.raises(BadInput, match=r"seed: 0 → 7"):
        train(tiny("pc3d", seed=7), finished.path, QUIET)


def test_a_folder_has_one_owner(tmp_path):
    with one_owner(tmp_path), pytest.raises(BadInput, match="another process"):
        train(tiny(), tmp_path, QUIET)


def test_a_read_only_folder_is_one_sentence(tmp_path):
    place = tmp_path / "file"
    place.write_text("not a folder")
    with pytest.raises(BadInput, match="was not possible"):
        train(tiny(), place / "run", QUIET)


def test_a_loss_that_is_not_finite_stops_the_run_and_keeps_the_last_good_checkpoint(tmp_path, monkeypatch):
    experiment = tiny()
    with pytest.raises(Interrupted):
        train(experiment, tmp_path, QUIET, StopAfter(1))
    kept = list(RunFolder(tmp_path).checkpoints.iterdir())
    real = descent.objective

    def broken(*arguments):
        return eqx.tree_at(
            lambda parts: parts.total, real(*arguments), replace_fn=lambda total: total * jnp.nan
        )

    monkeypatch.setattr(descent, "objective", broken)
    rounds._in_one_program.clear_cache()  # so that it is compiled anew, with the fault
    with pytest.raises(Diverged, match="at update 2: loss not finite") as stopped:
        train(experiment, tmp_path, QUIET)
    rounds._in_one_program.clear_cache()
    assert stopped.value.exit_code == 3
    assert list(RunFolder(tmp_path).checkpoints.iterdir()) == kept


class StopAfter(Watcher):
    """A watcher that plays the part of Ctrl-C."""

    def __init__(self, updates):
        self.updates = updates

    def logged(self, line):
        if line["update"] == self.updates:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("sprea pc3d", "perhaps you meant spread"),
        ("spread pcd3", "perhaps you meant pc3d"),
        ("spread", "usage"),
        ("spread pc3d --preset papr", "perhaps you meant paper"),
        ("spread pc3d --ppo.discount 1.5", "ppo.discount must be from 0 to 1"),
        ("spread pc3d --ppo.learning-rate 0", "ppo.learning_rate must be above 0"),
        ("spread pc3d --episodes 0", "episodes must be from 1"),
        ("spread pc3d --distillation.reliance-min 5", "must be below"),
        ("spread pc3d --ppo.buffer-size 10", "ppo.buffer_size must be at least 200"),
        ("spread pc3d --curriculum.stages.0.team-sizes 1 9", "which is of the split 'test'"),
        ("spread pc3d --evaluation-rollouts 0", "evaluation_rollouts must be from 1"),
        ("spread pc3d --checkpoint-every -1", "checkpoint_every must be from 0"),
        ("spread pc3d --actor.widths", "actor.widths must name at least one layer"),
        ("spread pc3d --distillation.reliance-max inf", "distillation.reliance_max must be a finite number"),
        ("spread pc3d --curriculum.stages.0.probabilities nan nan", "must sum to 1"),
        ("spread pc3d --preset=papr", "perhaps you meant paper"),
        ("spread pc3d --rosters.test 1001", "played by 1 to 1000 agents"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(words, sentence, capsys, tmp_path):
    assert main(["train", *words.split(), "--folder", str(tmp_path / "run")]) == 2
    errors = capsys.readouterr().err
    assert sentence in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "run" / "experiment.json").exists()


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ({"critic": "nope"}, "there is no critic called 'nope'"),
        ({"gate": "halfway"}, "there is no gate called 'halfway': there are adaptive, off, on"),
        ({"gate": 0.5}, "there is no gate called '0.5': there are adaptive, off, on"),
    ],
)
def test_a_run_refused_for_its_methods_row_leaves_its_folder_to_the_mended_one(
    part, sentence, tmp_path, monkeypatch
):
    monkeypatch.setitem(METHODS, "pc3d", replace(METHODS["pc3d"], **part))
    with pytest.raises(BadInput, match=sentence):
        train(tiny("pc3d"), tmp_path / "run", QUIET)
    assert not (tmp_path / "run").exists()


def test_a_misspelt_setting_is_told_what_was_meant(capsys, tmp_path):
    with pytest.raises(SystemExit) as stopped:
        main(["train", "spread", "pc3d", "--ppo.learning-rat", "0.1"])
    assert stopped.value.code == 2
    assert "--ppo.learning-rate" in capsys.readouterr().err


def test_a_saved_tree_comes_back_bit_for_bit(tmp_path):
    tree = {"a": jnp.arange(3.0), "b": (jnp.asarray(2), jnp.zeros((0, 2)))}
    save_tree(tmp_path / "tree", tree, {"kind": "test"})
    found, description = load_tree(tmp_path / "tree", tree)
    assert description["kind"] == "test"
    np.testing.assert_array_equal(found["a"], tree["a"])
    assert found["b"][0].dtype == tree["b"][0].dtype


def test_a_tree_of_another_shape_is_refused_with_the_difference(tmp_path):
    save_tree(tmp_path / "tree", {"a": jnp.zeros(3)}, {})
    with pytest.raises(BadInput, match=r"a is float32\[3\], not float32\[4\]"):
        load_tree(tmp_path / "tree", {"a": jnp.zeros(4)})
    with pytest.raises(BadInput, match="lacks b"):
        load_tree(tmp_path / "tree", {"a": jnp.zeros(3), "b": jnp.zeros(3)})


def test_every_single_bit_flip_is_noticed(tmp_path):
    path = tmp_path / "tree"
    save_tree(path, {"a": jnp.arange(3.0)}, {"kind": "test"})
    content = path.read_bytes()
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        with pytest.raises(BadInput):
            read_file(path)


def test_every_damaged_checkpoint_is_passed_over_and_never_outlives_a_new_one(tmp_path, capsys):
    run = RunFolder(tmp_path)
    run.create()
    tree, experiment = {"a": jnp.arange(3.0)}, small_experiment("pc3d")
    about = {"kind": "checkpoint", "gathering": None, "experiment": to_plain(experiment)}
    for number in (125, 250):
        run.save_checkpoint(number, tree, about)
    newest = run.checkpoints / "000000250.safetensors"
    content = newest.read_bytes()
    for place in range(0, len(content), 5):  # header, description and arrays alike
        newest.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        found = run.newest_checkpoint(tree, experiment)
        assert found is not None
        assert found[1]["update"] == 125
    run.save_checkpoint(130, tree, about)
    assert [file.name for file in sorted(run.checkpoints.iterdir())] == [
        "000000125.safetensors",
        "000000130.safetensors",
    ]
    assert "going back to the checkpoint before it" in capsys.readouterr().err


def test_a_truncated_file_is_damaged(tmp_path):
    path = tmp_path / "tree"
    save_tree(path, {"a": jnp.arange(3.0)}, {})
    content = path.read_bytes()
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        with pytest.raises(DamagedFile):
            read_file(path)


def test_settings_survive_json(finished):
    assert finished.experiment() == tiny("pc3d")
    assert experiments.paper("lbf", "pic") != tiny("pc3d")


def test_metrics_of_a_missing_file_are_none():
    assert read_lines(Path("nowhere.jsonl")) == []
