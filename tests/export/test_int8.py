"""Eight bits: what they hold, what they cost, and that the cost decides whether a file is written."""

import json

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pc3d import cli
from pc3d.export.graph_builder import INT8_STEPS, INT8_ZERO, to_int8
from pc3d.export.int8_loss import SizeReturns, losses_by_split, play_both
from pc3d.export.runtime import OnnxActor
from pc3d.play.actor_team import ActorTeam
from pc3d.play.arena import CompiledArena
from pc3d.play.scores import returns_by_size
from tests.evaluation.policies import finished_run
from tests.export.policies import as_onnx, small_policy

numbers = st.floats(-100, 100, width=32)


@given(arrays(np.float32, (4, 3), elements=numbers))
def test_a_weight_is_off_by_at_most_half_a_step_of_its_column(matrix):
    stored, scales = to_int8(matrix)
    restored = (stored.astype(np.float64) - INT8_ZERO) * scales
    assert (np.abs(restored - matrix) <= 0.5001 * np.abs(matrix).max(axis=0) / INT8_STEPS + 1e-30).all()


def test_the_largest_weight_of_a_column_takes_the_last_step():
    stored, scales = to_int8(np.array([[127.0, -2.0], [-1.0, 0.0]], np.float32))
    np.testing.assert_array_equal(stored, [[255, 1], [127, 128]])
    np.testing.assert_allclose(scales, [1.0, 2 / 127], rtol=1e-6)


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    return small_policy(tmp_path_factory.mktemp("policies") / "policy", "spread", "hyper-pc3d")


def test_int8_is_near_float32_but_not_the_same(policy):
    random = np.random.default_rng(0)
    seen, memory = random.normal(size=(20, 16)), random.normal(size=(20, 10)) / 3
    rows = seen.astype(np.float32), memory.astype(np.float32)
    float32, int8 = (OnnxActor(as_onnx(policy, int8=int8)).step(*rows) for int8 in (False, True))
    difference = np.abs(float32.probabilities - int8.probabilities)
    assert 1e-4 < difference.max() < 0.1
    assert difference.mean() < 0.02


def test_an_int8_model_takes_one_agent_at_a_time_and_stores_bytes(policy):
    model = onnx.load_from_string(as_onnx(policy, int8=True))
    assert all(value.type.tensor_type.shape.dim[0].dim_value == 1 for value in model.graph.input)
    matrices = [tensor for tensor in model.graph.initializer if tensor.name.endswith(".weight")]
    assert len(matrices) >= 9
    assert {tensor.data_type for tensor in matrices} == {onnx.TensorProto.UINT8}


def test_the_float32_returns_are_those_of_evaluation(policy):
    models = (as_onnx(policy), as_onnx(policy, int8=True))
    (played,) = play_both(policy.task, policy.experiment.rosters, models, (3,), rollouts=4)
    arena, team = CompiledArena(policy.task), ActorTeam(policy.actor)
    expected = returns_by_size(arena, team, (3,), rollouts=4)[3]
    np.testing.assert_allclose(played.float32, expected, rtol=1e-3)
    assert (played.int8 != played.float32).any()


def test_losses_are_means_of_sizes_and_errors_are_of_pairs():
    two = SizeReturns(2, "train", np.array([-1.0, -3.0]), np.array([-2.0, -5.0]))
    four = SizeReturns(4, "train", np.array([-6.0, -6.0]), np.array([-6.0, -6.0]))
    (loss,) = losses_by_split([two, four])
    assert (loss.float32, loss.int8, loss.loss) == (-4.0, -4.75, 0.75)
    assert loss.share == pytest.approx(0.1875)
    # Differences of 1 and 2: variance 0.5, of their mean 0.25; the other size has none; two sizes.
    assert loss.standard_error == pytest.approx(np.sqrt(0.25) / 2)


def test_a_loss_of_nothing_is_endless_and_a_gain_is_none():
    nothing, something = np.zeros(2), np.ones(2)
    (gain,) = losses_by_split([SizeReturns(2, "train", nothing, something)])
    (loss,) = losses_by_split([SizeReturns(2, "train", nothing, -something)])
    assert gain.share == 0
    assert loss.share == np.inf


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return finished_run(tmp_path_factory.mktemp("runs") / "run")


def made_up(float32: float, int8: float):
    """Play that always ends with these returns."""

    def play(task, rosters, models, team_sizes, rollouts, advance):
        ones = np.ones(rollouts)
        return [SizeReturns(size, rosters.split_of(size), float32 * ones, int8 * ones) for size in team_sizes]

    return play


def test_too_large_a_loss_is_refused_unless_accepted(run, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("pc3d.export.int8_loss.play_both", made_up(-40.0, -41.0))
    words = ["export", str(run.path), str(tmp_path / "policy.onnx"), "--int8"]
    assert cli.main(words) == 2
    assert "int8 loses 2.5% of the train return, more than 2.0%" in capsys.readouterr().err
    assert not (tmp_path / "policy.onnx").exists()
    assert cli.main([*words, "--accept-loss"]) == 0


def test_a_small_loss_is_written_into_the_file_and_test_sizes_are_left_alone(run, tmp_path, monkeypatch):
    monkeypatch.setattr("pc3d.export.int8_loss.play_both", made_up(-40.0, -40.4))
    out = tmp_path / "policy.onnx"
    assert cli.main(["export", str(run.path), str(out), "--int8", "--rollouts", "3"]) == 0
    about = json.loads(onnx.load(out).metadata_props[0].value)
    assert about["precision"] == "int8"
    assert about["int8"]["rollouts_per_team_size"] == 3
    assert set(about["int8"]["mean_return_by_team_size"]) == set("12345678")
    assert about["int8"]["mean_return_by_team_size"]["5"] == {"float32": -40.0, "int8": pytest.approx(-40.4)}
    assert about["int8"]["loss_by_split"]["validation"]["loss"] == pytest.approx(0.4)
