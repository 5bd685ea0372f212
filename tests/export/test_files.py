"""What stands in exported files, that they need nothing of ours, and one sentence for what cannot be."""

import json
import re
import subprocess
import sys
from dataclasses import replace

import equinox as eqx
import jax
import numpy as np
import onnx
import pytest

from pc3d import cli
from pc3d.experiment.world import ObservationPart, Rules
from pc3d.export.plain_actor import plain_actor
from pc3d.export.runtime import OnnxActor
from pc3d.networks.conditioning import HeadShape, PlainHead
from pc3d.runs.checkpoint import read_file
from pc3d.system.errors import BadInput
from pc3d.tasks.spread.world import Spread
from tests.evaluation.policies import finished_run
from tests.export.policies import EXAMPLES, as_onnx, small_policy, write_policy
from tests.play.hosted.tiny import own_world
from tests.small import small_experiment

BLOCKED = "import sys; sys.modules.update({name: None for name in ('pc3d', 'jax', 'safetensors', 'onnx')})\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return finished_run(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    return small_policy(tmp_path_factory.mktemp("policies") / "policy.safetensors", "spread", "pc3d")


@pytest.fixture(scope="module")
def exported(policy, tmp_path_factory):
    """A folder with the policy in both forms, as the command writes them."""
    folder = tmp_path_factory.mktemp("exported")
    for suffix in ("onnx", "safetensors"):
        assert cli.main(["export", str(policy.path), str(folder / f"policy.{suffix}")]) == 0
    return folder


def refusal(capsys, *words) -> str:
    """The sentence that the command ends with: one line, exit code 2, no traceback."""
    assert cli.main(["export", *map(str, words)]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    return errors


def without_us(program: str, *words: str, folder) -> subprocess.CompletedProcess:
    """Run a program in a process in which pc3d, JAX, safetensors and onnx cannot be imported."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", BLOCKED + program, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_both_forms_say_the_same_about_themselves(exported, policy):
    model = onnx.load(exported / "policy.onnx")
    about = json.loads({entry.key: entry.value for entry in model.metadata_props}["pc3d"])
    _, description = read_file(exported / "policy.safetensors")
    assert about == {name: value for name, value in description.items() if name not in ("format", "digest")}
    assert (about["task"], about["method"], about["seed"]) == ("spread", "pc3d", 0)
    assert about["return_definition"] == policy.task.return_definition
    assert about["actions"] == list(Spread.action_names)
    assert sum(part["width"] for part in about["observation"]) == Spread().observation_width
    assert about["team_sizes"] == {"train": [1, 2, 4, 6, 8], "validation": [3, 5, 7], "test": [9, 10]}
    assert about["memory"]["width"] == policy.experiment.actor.rnn_dim
    assert re.fullmatch("[0-9a-f]{64}", about["policy_sha256"])


def test_the_model_is_plain_onnx_of_an_old_opset_with_a_free_batch(exported):
    model = onnx.load(exported / "policy.onnx")
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 13)]
    assert model.ir_version == 7
    names = [value.name for value in model.graph.output]
    assert names == ["action_probabilities", "next_memory", "student_context", "gate"]
    for value in (*model.graph.input, *model.graph.output):
        assert value.type.tensor_type.shape.dim[0].dim_param == "batch"


def test_exporting_again_gives_the_same_bytes(exported, policy, tmp_path):
    for name in ("policy.onnx", "policy.safetensors"):
        assert cli.main(["export", str(policy.path), str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_bytes() == (exported / name).read_bytes()


def test_the_page_on_deploying_shows_code_that_runs_without_us(exported):
    page = (EXAMPLES.parent / "docs" / "deploying.md").read_text()
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    finished = without_us(code, folder=exported)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.strip() in Spread.action_names


def test_the_numpy_example_acts_without_us(exported, policy):
    seen = np.linspace(-1, 1, 16, dtype=np.float32)
    program = f"import runpy; runpy.run_path({str(EXAMPLES / 'numpy_policy.py')!r}, run_name='__main__')"
    finished = without_us(program, "policy.safetensors", *map(str, seen), folder=exported)
    assert finished.returncode == 0, finished.stderr
    names, _, numbers = finished.stdout.partition("] [")
    assert names == str(list(Spread.action_names))[:-1]
    model = OnnxActor(as_onnx(policy))
    expected = model.step(seen[None], model.first_memory(1)).probabilities[0]
    np.testing.assert_allclose(
        [float(number) for number in numbers.strip("]\n").split()], expected, atol=1e-5
    )


def test_a_finished_run_is_exported_from_its_folder(run, tmp_path, capsys):
    assert cli.main(["export", str(run.path), str(tmp_path / "new" / "policy.onnx")]) == 0
    assert "spread pc3d seed 0: 16 numbers seen, 10 remembered, 5 actions" in capsys.readouterr().out


def test_an_unfinished_run_is_refused(tmp_path, capsys):
    unfinished = finished_run(tmp_path / "run")
    unfinished.final.unlink()
    unfinished.done_file.unlink()
    assert "is unfinished: continue it" in refusal(capsys, unfinished.path, tmp_path / "policy.onnx")


def test_what_is_no_policy_is_refused(exported, tmp_path, capsys):
    out = tmp_path / "policy.onnx"
    assert "cannot be read" in refusal(capsys, tmp_path / "nothing", out)
    assert "was not written by pc3d" in refusal(capsys, exported / "policy.onnx", out)
    assert "deployed actor, not a policy" in refusal(capsys, exported / "policy.safetensors", out)
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["policy.tflite"], "a .onnx or .safetensors file, not policy.tflite"),
        (["policy.safetensors", "--int8"], "--int8 is for .onnx files"),
        (["policy.onnx", "--int8", "--largest-loss", "2"], "a share from 0 to 1, not 2"),
        (["policy.onnx", "--int8", "--rollouts", "1"], "at least 2 rollouts, not 1"),
        (["policy.onnx", "--int8", "--team-sizes", "1001"], "spread is played by 1 to 1000 agents, not 1001"),
    ],
)
def test_impossible_wishes_are_refused(run, tmp_path, monkeypatch, capsys, words, sentence):
    monkeypatch.chdir(tmp_path)
    assert sentence in refusal(capsys, run.path, *words)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_only_when_asked(run, tmp_path, capsys):
    out = tmp_path / "policy.onnx"
    out.write_text("precious")
    assert "is already there" in refusal(capsys, run.path, out)
    assert out.read_text() == "precious"
    assert cli.main(["export", str(run.path), str(out), "--force"]) == 0
    onnx.checker.check_model(str(out))


def test_the_policy_itself_is_never_replaced(run, capsys):
    before = run.final.read_bytes()
    assert "is the policy itself" in refusal(capsys, run.path, run.final, "--force")
    assert run.final.read_bytes() == before


def test_a_conditioning_we_cannot_write_is_refused(policy):
    class Louder(PlainHead):
        def __call__(self, features):
            return super().__call__(2 * features)

    head = Louder(jax.random.key(0), HeadShape(features=10, actions=5))
    loud = eqx.tree_at(lambda actor: actor.conditioning, policy.actor, head)
    with pytest.raises(
        BadInput, match="a Louder cannot be exported yet, only PlainHead, GatedFilm, HyperHead"
    ):
        plain_actor(loud)


def test_a_missing_package_is_one_sentence(run, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "pc3d.export.graph_builder")
    monkeypatch.delitem(sys.modules, "pc3d.export.graph")
    assert "pip install -e '.[export]'" in refusal(capsys, run.path, tmp_path / "policy.onnx")


def test_the_parts_of_an_own_observation_reach_the_file_by_their_names(tmp_path):
    parts = (ObservationPart("own place", 1), ObservationPart("way to the middle", 1))
    world = replace(own_world(), observation_parts=parts)
    experiment = replace(small_experiment("mappo"), task="somebody.elses:make", rules=Rules(), world=world)
    write_policy(tmp_path / "policy.safetensors", experiment)
    assert cli.main(["export", str(tmp_path / "policy.safetensors"), str(tmp_path / "policy.onnx")]) == 0
    (metadata,) = onnx.load(tmp_path / "policy.onnx").metadata_props
    assert json.loads(metadata.value)["observation"] == [
        {"name": "own place", "width": 1},
        {"name": "way to the middle", "width": 1},
    ]


def test_a_policy_that_comes_with_pc3d_is_exported_by_its_name(tmp_path, capsys):
    assert cli.main(["export", "lbf/mappo", str(tmp_path / "policy.safetensors")]) == 0
    assert "lbf mappo seed 0" in capsys.readouterr().out
    assert "perhaps you meant lbf/mappo" in refusal(capsys, "lbf/mapo", tmp_path / "other.onnx")
