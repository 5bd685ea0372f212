"""The shell completes commands, names and options."""

import shutil
import subprocess

import pytest

from pc3d.cli import COMMANDS, completion, main


def completed(*words: str) -> list[str]:
    """What bash offers after these words, the last of which is unfinished."""
    line = " ".join(f"'{word}'" for word in words)
    question = (
        f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _pc3d; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    result = subprocess.run(
        ["bash", "-c", f"{completion.script('bash')}\n{question}"], capture_output=True, text=True, check=True
    )
    return result.stdout.split()


def test_every_command_is_offered():
    assert completed("pc3d", "") == list(COMMANDS)
    assert completed("pc3d", "eva") == ["evaluate"]


def test_names_and_options_of_a_command_are_offered():
    assert completed("pc3d", "train", "spr") == ["spread"]
    assert completed("pc3d", "train", "spread", "hyp") == ["hyper-pc3d"]
    assert "--ppo.learning-rate" in completed("pc3d", "train", "spread", "pc3d", "--ppo.l")
    assert completed("pc3d", "study", "qu") == ["quick"]
    assert "--rollouts" in completed("pc3d", "evaluate", "--ro")


def test_fish_and_zsh_have_every_command_too(capsys):
    for shell in ("fish", "zsh"):
        assert main(["completion", shell]) == 0
        shown = capsys.readouterr().out
        assert all(name in shown for name in COMMANDS)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_reads_its_script():
    subprocess.run(["zsh", "-c", completion.script("zsh")], check=True)
