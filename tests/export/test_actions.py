"""Real numbers and masks in exported files: they say what our actor does, and no task's code runs."""

import json
import subprocess
import sys
from dataclasses import replace

import jax
import numpy as np
import onnxruntime
import pytest

from pc3d.cli import main
from pc3d.experiment.action_space import Box, Choice
from pc3d.experiment.world import OwnWorld, Rules
from pc3d.export.runtime import OnnxActor, OnnxTeam
from pc3d.learners.registry import algorithm_of
from pc3d.networks.squashing import normal_numbers
from pc3d.play.actor_team import ActorTeam
from pc3d.play.team import View
from pc3d.runs.checkpoint import save_tree
from pc3d.runs.policy import load_policy
from pc3d.runs.run_folder import policy_description
from pc3d.tasks.make import make_game
from tests.export.policies import EXAMPLES, example, perturbed
from tests.small import small_experiment

BOX = Box(("x", "y", "z"), (-1.0, 0.0, 2.0), (1.0, 5.0, 2.5))
MASKED = Choice(("a", "b", "c", "d"), masked=True)
TEAM, ROWS, WIDTH = (2, 3), 6, 7
TOLERANCE = 1e-5


@pytest.fixture(params=["ippo", "pc3d", "gate-on", "hyper-pc3d"])
def numbers(request, tmp_path):
    return exported(tmp_path, request.param, BOX)


@pytest.fixture(params=["mappo", "hyper-pc3d", "vdn"])
def masked(request, tmp_path):
    return exported(tmp_path, request.param, MASKED)


def exported(folder, method, space):
    """A policy of a task that nobody can import, and both files that the command writes of it."""
    world = OwnWorld.acting(
        space, stepped_by="host", horizon=5, observation_shape=(WIDTH,), return_definition="its own"
    )
    named = {"task": "nowhere:make", "rules": Rules(), "world": world}
    experiment = replace(small_experiment(method), **named)
    game, algorithm = make_game(experiment), algorithm_of(experiment)
    networks = perturbed(algorithm.policy(algorithm.fresh(experiment, game)))
    save_tree(folder / "policy", networks, policy_description(experiment, "its own"))
    for name in ("policy.onnx", "policy.safetensors"):
        assert main(["export", str(folder / "policy"), str(folder / name)]) == 0
    return folder


def moment():
    random = np.random.default_rng(0)
    seen = 2 * random.normal(size=(*TEAM, WIDTH)).astype(np.float32)
    memory = random.normal(size=(*TEAM, 10)).astype(np.float32)
    return seen, memory, random


def decided(folder, view, memory, chances):
    """What the package's own team does, and the exported one."""
    policy, onnx = load_policy(folder / "policy"), OnnxActor((folder / "policy.onnx").read_bytes())
    _, theirs = OnnxTeam(onnx).step(memory.reshape(ROWS, -1), view, chances)
    return policy, onnx, acted(ActorTeam(policy.actor), memory, view, chances), np.asarray(theirs.actions)


@jax.jit
def stepped(team, memory, view, chances):
    return team.step(memory, view, chances)[1].actions


def acted(*moment):
    return np.asarray(stepped(*moment))


def test_exported_numbers_are_the_packages(numbers):
    seen, memory, random = moment()
    chances = random.random((*TEAM, 3), np.float32)
    view = View(seen, np.ones(TEAM, bool))
    policy, onnx, own, theirs = decided(numbers, view, memory, chances)
    np.testing.assert_allclose(theirs, own, atol=TOLERANCE)
    assert np.ptp(own / np.subtract(BOX.high, BOX.low), axis=(0, 1)).max() > 0.3  # it reacts
    reader = example("numpy_policy").NumpyPolicy(str(numbers / "policy.safetensors"))
    noise = np.asarray(normal_numbers(chances)).reshape(ROWS, 3)
    rows = zip(seen.reshape(ROWS, -1), memory.reshape(ROWS, -1), noise, strict=True)
    said = [reader.step(sight, kept, noise=drawn)[0] for sight, kept, drawn in rows]
    np.testing.assert_allclose(said, own.reshape(ROWS, 3), atol=TOLERANCE)
    calm = acted(ActorTeam(policy.actor, greedy=True), memory, view, chances)
    zeros = onnx.step(seen.reshape(ROWS, -1), memory.reshape(ROWS, -1))
    np.testing.assert_allclose(zeros.action, calm.reshape(ROWS, 3), atol=TOLERANCE)


def test_a_file_says_the_bounds_and_the_names_of_its_numbers(numbers):
    session = onnxruntime.InferenceSession(numbers / "policy.onnx")
    about = json.loads(session.get_modelmeta().custom_metadata_map["pc3d"])
    assert [given.name for given in session.get_inputs()] == ["observation", "memory", "noise"]
    assert [said.name for said in session.get_outputs()][:2] == ["action", "next_memory"]
    assert about["actions"] == list(BOX.names)
    assert about["action_space"] == {
        "kind": "box",
        "names": [*BOX.names],
        "low": [*BOX.low],
        "high": [*BOX.high],
    }
    assert "zeros for the middle" in about["choosing"]


def test_what_a_mask_forbids_has_no_chance_in_an_exported_file(masked):
    seen, memory, random = moment()
    allowed = random.random((*TEAM, 4)) < 0.5
    allowed[..., 1] |= ~allowed.any(axis=-1)
    view, chances = View(seen, np.ones(TEAM, bool), allowed=allowed), random.random(TEAM, np.float32)
    _, onnx, own, theirs = decided(masked, view, memory, chances)
    np.testing.assert_array_equal(theirs, own)
    assert np.take_along_axis(allowed, own[..., None], axis=-1).all()
    rows, kept, masks = seen.reshape(ROWS, -1), memory.reshape(ROWS, -1), allowed.reshape(ROWS, -1)
    likely = onnx.step(rows, kept, allowed=masks).probabilities
    np.testing.assert_array_equal(likely[~masks], 0)
    np.testing.assert_allclose(likely.sum(axis=-1), 1, rtol=1e-5)
    reader = example("numpy_policy").NumpyPolicy(str(masked / "policy.safetensors"))
    said = [
        reader.step(sight, past, allowed=mask)[0] for sight, past, mask in zip(rows, kept, masks, strict=True)
    ]
    np.testing.assert_allclose(said, likely, atol=TOLERANCE)
    free = onnx.step(rows, kept).probabilities
    np.testing.assert_array_equal(free, onnx.step(rows, kept, allowed=np.ones_like(masks)).probabilities)


@pytest.mark.parametrize("space", [BOX, MASKED], ids=["box", "masked"])
def test_a_robot_plays_either(space, tmp_path):
    folder, sight = exported(tmp_path, "pc3d", space), np.ones(WIDTH, np.float32).tobytes()
    mask = bytes([0, 0, 1, 0]) if space.masked else b""
    words = [sys.executable, str(EXAMPLES / "robot.py"), str(folder / "policy.onnx"), "5"]
    told = b"n" + 3 * (b"o" + sight + mask)
    answer = subprocess.run(words, input=told, capture_output=True, check=True, timeout=60).stdout
    if space.masked:
        assert answer == bytes([2, 2, 2])
    else:
        actions = np.frombuffer(answer, np.float32).reshape(3, 3)
        assert np.all((np.array(BOX.low) <= actions) & (actions <= np.array(BOX.high)))
        assert len(np.unique(actions)) > 3  # drawn anew every time
