"""Checkpoints that belong to something else: refused, with the first thing that differs."""

import json
import re
from dataclasses import replace

import pytest

from pc3d.experiment.methods import METHODS
from pc3d.runs import checkpoint
from pc3d.runs.checkpoint import read_file, save_tree, to_bytes
from pc3d.runs.policy import load_policy
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import BadInput
from pc3d.system.plain import differences
from pc3d.tasks.spread.rules import SpreadRules
from tests.faults.folders import describe, experiment_for, learner_of, policy_of, save, shapes_of

OURS = experiment_for("pc3d")
OTHER_METHODS = [experiment_for(method) for method in METHODS if method != OURS.method]
OTHER_TASKS = [
    experiment_for(method, task) for task in ("lbf", "rware") for method in ("pc3d", "mappo", "pic")
]
OTHER_SHAPES = [
    *(replace(OURS, actor=replace(OURS.actor, widths=widths)) for widths in ((16,), (16, 13), (16, 12, 12))),
    *(replace(OURS, actor=replace(OURS.actor, rnn_dim=width)) for width in (9, 11, 600)),
    *(replace(OURS, critic=replace(OURS.critic, tokens=tokens)) for tokens in (1, 2, 4)),
    *(replace(OURS, critic=replace(OURS.critic, set_embed_dim=width)) for width in (4, 9)),
    replace(OURS, critic=replace(OURS.critic, set_encoder_widths=(16, 16))),
    replace(OURS, critic=replace(OURS.critic, widths=(17,))),
    replace(OURS, critic=replace(OURS.critic, team_size_feature=False)),
]
SAME_SHAPE = [
    replace(OURS, seed=7),
    replace(OURS, episodes=33),
    replace(OURS, rules=SpreadRules("sum")),
    replace(OURS, algorithm=replace(OURS.algorithm, clip=0.3)),
    replace(OURS, recipe=replace(OURS.recipe, activation="tanh")),
    replace(OURS, distillation=replace(OURS.distillation, weight=0.5)),
]
OTHERS = OTHER_METHODS + OTHER_TASKS + OTHER_SHAPES + SAME_SHAPE


@pytest.fixture
def run(tmp_path):
    run = RunFolder(tmp_path / "run")
    run.create()
    return run


def refusal(run: RunFolder) -> str:
    with pytest.raises(BadInput) as refused:
        run.newest_checkpoint(shapes_of(OURS), OURS)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_checkpoint_of_another_experiment_is_refused_with_the_first_difference(run, figure):
    for number, other in enumerate(OTHERS, start=1):
        save(run, other, number)
        sentence = refusal(run)
        assert re.search(r"another shape: (it lacks|it has an unknown|\S+ is \w+\[.*\], not)", sentence) or (
            re.search(r"another experiment \([\w.]+: .+ → .+\)", sentence)
        ), sentence
    figure(
        "a checkpoint of another shape, task, method, seed or setting",
        len(OTHERS),
        "refused, with the first difference named",
        "0 loaded",
    )


@pytest.mark.parametrize("other", SAME_SHAPE, ids=lambda other: differences(OURS, other)[0])
def test_equal_shapes_do_not_make_it_ours(run, other):
    save(run, other, 1)
    assert differences(other, OURS)[0] in refusal(run)


def test_one_that_is_far_larger_is_told_from_its_header_alone(run, monkeypatch):
    wide = replace(OURS, actor=replace(OURS.actor, rnn_dim=600))
    save(run, wide, 1)
    monkeypatch.setattr(checkpoint, "read_file", lambda *_: pytest.fail("all of it was read"))
    assert re.search(r"actor\.\S+ is float32\[.*1800.*\], not", refusal(run))


@pytest.mark.parametrize("version", [0, 2, -1, None, "1"])
def test_another_format_is_refused_with_what_to_do(run, version, monkeypatch):
    path = run.checkpoints / "000000001.safetensors"
    with monkeypatch.context() as older:
        older.setattr(checkpoint, "FORMAT", version)
        save(run, OURS, 1)
    with pytest.raises(BadInput, match=f"has format {version}, .* reads 1: use the version that wrote it"):
        read_file(path)


def test_a_policy_is_no_checkpoint_and_a_checkpoint_no_policy(run, tmp_path):
    save_tree(run.checkpoints / "000000001.safetensors", learner_of(OURS, 1), describe(OURS, "policy"))
    assert "is not a checkpoint" in refusal(run)
    save_tree(tmp_path / "policy", policy_of(OURS, 1), describe(OURS))
    with pytest.raises(BadInput, match="holds a checkpoint, not a policy"):
        load_policy(tmp_path / "policy")


def test_a_policy_that_is_not_what_it_says_is_refused(tmp_path):
    path = tmp_path / "policy"
    arrays = checkpoint.named_arrays(policy_of(OURS, 1))
    wider = json.loads(json.dumps(describe(OURS, "policy")))
    wider["experiment"]["actor"]["rnn_dim"] = 11
    path.write_bytes(to_bytes(arrays, wider))
    with pytest.raises(BadInput, match="is of another shape: actor"):
        load_policy(path)
