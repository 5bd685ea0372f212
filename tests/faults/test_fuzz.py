"""Files mutated at random, many thousands of them: whatever is in them, only our own errors come out."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pc3d.experiment.roster_file import read_rosters
from pc3d.jobs.study import load_study
from pc3d.presets.experiment_file import read_experiment, to_plain
from pc3d.presets.paper import paper
from pc3d.presets.preset_file import Preset, read_preset, write_preset
from pc3d.runs.checkpoint import from_bytes, to_bytes
from pc3d.runs.metrics import Gathering
from pc3d.runs.run_folder import RunFolder
from pc3d.system.errors import BadInput
from tests.faults.folders import describe, experiment_for

TOKENS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b":",
    b",",
    b"\\",
    b"\x00",
    b"\xff",
    b"\n",
    b"-",
    b"1e999",
    b"NaN",
    b"null",
]
TOKENS += [
    b"true",
    b"0x",
    b"9" * 30,
    b"../",
    b"\xed\xa0\x80",
    b"'''",
    b"[[",
    b"=",
    b"#",
    b"1979-05-27",
    b"inf",
]
VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    2**63,
    10**40,
    10**400,
    1e308,
    -0.0,
    float("nan"),
    float("inf"),
    "",
    "x",
    "../..",
    [],
    {},
]
VALUES += [[[]], [None], [-1], {"a": {"a": 1}}, "\x00", "\ud800", "9" * 5000, [2**70]]
ARRAYS = {"actor.weight": np.arange(6, dtype=np.float32).reshape(2, 3), "update": np.asarray(3, np.int32)}
DESCRIPTION = json.loads(json.dumps(describe(experiment_for())))


def mutated(content: bytes, chance: random.Random) -> bytes:
    """One to four random changes: bits, pieces lost, doubled or moved, and words with a meaning."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(changed) + 1)
        length = int(chance.expovariate(0.1))
        match chance.randrange(6):
            case 0 if place < len(changed):
                changed[place] ^= 1 << chance.randrange(8)
            case 1:
                del changed[place : place + length]
            case 2:
                changed[place:place] = changed[place : place + length]
            case 3:
                changed[place : place + length] = chance.choice(TOKENS)
            case 4:
                changed[place:place] = chance.choice(TOKENS)
            case _:
                other = chance.randrange(len(changed) + 1)
                changed[place : place + length] = changed[other : other + length]
    return bytes(changed)


def altered(table: Any, chance: random.Random) -> Any:
    """The same table with a value, or a name, somewhere inside that nobody would write."""
    if isinstance(table, dict) and table and chance.random() < 0.95:
        name = chance.choice(list(table))
        match chance.randrange(8):
            case 0:
                return {other: value for other, value in table.items() if other != name}
            case 1:
                return {**table, chance.choice(["", "__class__", name.upper(), name + "s"]): table[name]}
            case _:
                return {**table, name: altered(table[name], chance)}
    if isinstance(table, list) and table and chance.random() < 0.7:
        place = chance.randrange(len(table))
        return [*table[:place], altered(table[place], chance), *table[place + 1 :]]
    return chance.choice(VALUES)


def survives(read: Callable[[], object]) -> bool:
    """Whether it was read; any other error than ours ends the test."""
    try:
        read()
    except BadInput:
        return False
    return True


def read_checkpoint(content: bytes) -> None:
    """As a resuming run would: the file, the settings in it, and the sums since the last line."""
    _, description = from_bytes(content, "a checkpoint")
    read_experiment(description.get("experiment"), "a checkpoint")
    Gathering(description.get("gathering"))


def test_fuzzed_checkpoints_raise_only_our_own_errors(count, figure):
    chance, whole = random.Random(0), to_bytes(ARRAYS, DESCRIPTION)
    read_checkpoint(whole)
    injected, read = count(100_000, 1500), 0
    for number in range(injected):
        if number % 2:
            content = mutated(whole, chance)
        else:  # with a checksum that is right, so that what comes after it is tried, too
            name = chance.choice(["experiment", "gathering"])
            content = to_bytes(ARRAYS, {**DESCRIPTION, name: altered(DESCRIPTION[name], chance)})
        read += survives(partial(read_checkpoint, content))
    figure("fuzzed checkpoints", injected, "only our own errors", f"{read:,} were still valid")


def experiment_text() -> bytes:
    return json.dumps({"experiment": to_plain(paper("spread", "pc3d"))}, indent=1).encode()


def preset_text(folder: Path) -> bytes:
    write_preset(
        folder / "a.toml",
        Preset("spread", "pc3d", {"ppo.epochs": 4, "actor.widths": (64, 32), "recipe.clip_values": True}),
    )
    return (folder / "a.toml").read_bytes()


def config_files(folder: Path) -> list[tuple[bytes, Path, Callable[[], object]]]:
    """The content of a good one of each kind, where it goes, and who reads it."""
    study = (files("pc3d.jobs") / "studies" / "quick.toml").read_bytes()
    rosters = (
        b"train = [2, 3]\ntest = [4]\n[[stages]]\nfraction = 1.0\nteam_sizes = [2]\nprobabilities = [1.0]\n"
    )
    run = RunFolder(folder)
    return [
        (experiment_text(), run.experiment_file, run.experiment),
        (preset_text(folder), folder / "preset.toml", lambda: read_preset(folder / "preset.toml")),
        (study, folder / "study.toml", lambda: load_study(str(folder / "study.toml")).jobs(folder)),
        (rosters, folder / "rosters.toml", lambda: read_rosters(folder / "rosters.toml")),
    ]


def test_fuzzed_config_files_raise_only_our_own_errors(tmp_path, count, figure):
    kinds = config_files(tmp_path)
    injected, read = count(100_000, 1200), 0
    for place, (whole, path, reader) in enumerate(kinds):
        chance = random.Random(place)
        path.write_bytes(whole)
        assert survives(reader), path
        for number in range(-(-injected // len(kinds))):
            content = mutated(whole, chance)
            if number % 2 and path.suffix == ".json":
                content = json.dumps(altered(json.loads(whole), chance)).encode()
            path.write_bytes(content)
            read += survives(reader)
    figure(
        "fuzzed experiment, preset, study and team-size files",
        injected,
        "only our own errors",
        f"{read:,} were still valid",
    )


@pytest.mark.parametrize("kind", ["preset", "study", "rosters"])
def test_values_that_nobody_would_write_raise_only_our_own_errors(kind, tmp_path, count):
    """Each value in the place of every value of a good file; TOML has no text for some of them."""
    whole, path, reader = {
        Path(path).stem: (text, path, reader) for text, path, reader in config_files(tmp_path)
    }[kind]
    lines = whole.decode().splitlines()
    for place, line in enumerate(lines):
        if "=" not in line:
            continue
        for value in VALUES:
            try:
                new = f"{line.partition('=')[0]}= {json.dumps(value)}"
                tomllib.loads(new)
            except (ValueError, RecursionError):
                continue
            path.write_text("\n".join([*lines[:place], new, *lines[place + 1 :]]), encoding="utf-8")
            survives(reader)
