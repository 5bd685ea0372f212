"""Every setting there is, misspelt and out of range. They are found by looking, so none can be forgotten."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pc3d.cli import main
from pc3d.cli.train import parse
from pc3d.experiment.option_names import options_for
from pc3d.play.hosted.crew import DEFAULT_HOSTING
from pc3d.presets.paper import paper
from pc3d.runs.habits import DEFAULT_HABITS

EXPERIMENT = paper("spread", "pc3d")


SETTINGS = {
    **dict(options_for(EXPERIMENT)),
    **dict(options_for(DEFAULT_HABITS)),
    **dict(options_for(DEFAULT_HOSTING)),
}


def option(setting: str) -> str:
    return f"--{setting}"


def misspelt(setting: str) -> str:
    """A letter of the last part is left out."""
    front, _, last = setting.rpartition(".")
    middle = len(last) // 2
    return option(f"{front}.{last[:middle]}{last[middle + 1 :]}".lstrip("."))


def out_of_range(value: Any) -> str:
    """What no setting of that type can be."""
    if isinstance(value, bool | str):
        return "perhaps"
    if isinstance(value, tuple):
        return out_of_range(value[0]) if value else "-1"
    return "nan" if isinstance(value, float) else "-1"


def named_parts(setting: str) -> list[str]:
    """What a refusal must say: the setting's name; a stage is not told which one of the stages it is."""
    return re.split(r"\.\d+\.", setting)


def refusal(capsys: pytest.CaptureFixture, *words: str) -> str:
    """What is said, in one line and one spelling, after checking that the exit code is 2."""
    try:
        code = main(["train", "spread", "pc3d", *words])
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr().err
    assert code == 2, (words, code)
    assert "Traceback" not in said
    return re.sub(r"[\s│_]+", "-", said)


@pytest.fixture
def chosen(count):
    """All settings, or some of each kind."""
    names = list(SETTINGS)
    return names[:: count(1, 7)]


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")


def test_a_misspelt_setting_is_told_what_was_meant(chosen, tmp_path, capsys, figure):
    for name in chosen:
        said = refusal(capsys, misspelt(name), "1", "--folder", str(tmp_path / "run"))
        assert f"{option(name)}" in said, (name, said)
    assert list(tmp_path.iterdir()) == []
    figure("a misspelt setting", len(chosen), "exit code 2, with what was meant", "")


def test_a_setting_out_of_range_is_named(chosen, tmp_path, capsys, figure):
    for name in chosen:
        value = out_of_range(SETTINGS[name])
        said = refusal(capsys, option(name), value, "--folder", str(tmp_path / "run"))
        assert all(part in said for part in named_parts(name)), (name, value, said)
    figure("a setting out of range", len(chosen), "exit code 2, with the setting named", "")


def test_the_settings_found_are_those_that_training_takes():
    words = [word for name in ("ppo.epochs", "seed", "checkpoint-every") for word in (option(name), "3")]
    command = parse(["spread", "pc3d", *words])
    assert (command.experiment.algorithm.epochs, command.experiment.seed) == (3, 3)
    assert command.habits.checkpoint_every == 3
    assert {"ppo.learning-rate", "collisions", "env-timeout"} <= SETTINGS.keys()
    assert len(SETTINGS) > 60
