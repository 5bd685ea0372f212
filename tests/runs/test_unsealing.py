"""Once a choice is made, sealed runs get their test sizes: they are then the runs that were never sealed."""

import numpy as np
import pytest

from pc3d.cli import main
from pc3d.runs.policy import load_policy
from tests.runs.runs import digests, train_words

FEW = ("--episodes", "8", "--tensorboard", "False")


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sealed") / "run"
    assert main(train_words(folder, *FEW, "--sealed", method="mappo")) == 0
    return folder


def test_an_unsealed_run_is_the_one_that_was_never_sealed(sealed, tmp_path):
    opened, never = tmp_path / "opened", tmp_path / "never"
    before = digests(sealed)
    assert main(["unseal", str(sealed), "--folder", str(opened), "--test-sizes", "4"]) == 0
    assert main(train_words(never, *FEW, method="mappo")) == 0
    assert digests(opened) == digests(never)
    assert digests(sealed) == before  # stays as it was, and closed
    assert load_policy(opened).experiment.rosters.test == (4,)
    assert not np.any([path.name.startswith(".") for path in tmp_path.iterdir()])


def test_what_cannot_be_unsealed_is_said(sealed, tmp_path, capsys):
    def said(*words):
        assert main(["unseal", *map(str, words)]) == 2
        return capsys.readouterr().err

    new = ("--folder", tmp_path / "new")
    assert "name its own test sizes with --test-sizes" in said(sealed, *new)
    assert "networks for 4 agents" in said(sealed, *new, "--test-sizes", "5")
    assert not (tmp_path / "new").exists()
    assert main(["unseal", str(sealed), "--folder", str(tmp_path / "once"), "--test-sizes", "4"]) == 0
    assert "already there" in said(sealed, "--folder", tmp_path / "once", "--test-sizes", "4")
    assert "is not sealed" in said(tmp_path / "once", *new, "--test-sizes", "4")
    (tmp_path / "once" / "done.json").unlink()
    assert "is not finished" in said(tmp_path / "once", *new)
