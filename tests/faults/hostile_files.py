"""Files made by somebody who means harm, by name. Each is a function that puts one at a path."""

from __future__ import annotations

import io
import json
import os
import pickle
import sqlite3
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pc3d.presets.experiment_file import to_plain
from pc3d.runs.checkpoint import named_arrays, to_bytes
from tests.faults.folders import describe, experiment_for, policy_of
from tests.faults.guard import HOSTILE_WORDS

Maker = Callable[[Path], object]
Makers = dict[str, Maker]
DEEP, HUGE = 50_000, "9" * 5_000
ESCAPES = "\x1b]0;owned\x07\x1b[2J"
TRAP = HOSTILE_WORDS[0]  # a module; importing it is noticed
EXPERIMENT = experiment_for()


class Bomb:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.system, (f"{sys.executable} -m {TRAP}",)


def holding(content: bytes | str) -> Maker:
    return lambda path: path.write_bytes(content if isinstance(content, bytes) else content.encode())


def sparse(beginning: bytes, size: int) -> Maker:
    """A file that claims gigabytes and takes none."""

    def make(path: Path) -> None:
        path.write_bytes(beginning)
        os.truncate(path, size)

    return make


ODDITIES: Makers = {
    "a pipe that nobody writes to": os.mkfifo,
    "a link to endless zeros": lambda path: path.symlink_to("/dev/zero"),
    "a link to the terminal": lambda path: path.symlink_to("/dev/tty"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a folder": Path.mkdir,
}


def safetensors(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def one_array(**changes: Any) -> Maker:
    """A file with one array, something about which is a lie."""
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}
    metadata = {"pc3d": json.dumps({"kind": "policy"})}
    return holding(safetensors({"__metadata__": metadata, "a": entry}, bytes(8)))


def _with_metadata(text: Any) -> Maker:
    return holding(safetensors({"__metadata__": {"pc3d": text}}))


def _zip_with_pickle() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Bomb()))
    return content.getvalue()


def _numpy_with_pickle() -> bytes:
    content = io.BytesIO()
    np.save(content, np.array([Bomb()], dtype=object), allow_pickle=True)
    return content.getvalue()


def _huge_and_consistent() -> Maker:
    size = 10 * 2**30
    entry = {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}
    described = {"pc3d": json.dumps(describe(EXPERIMENT, "policy"))}
    beginning = safetensors({"__metadata__": described, "a": entry})
    return sparse(beginning, len(beginning) + size)


ARRAYS: Makers = {
    "a pickle that runs a command": holding(pickle.dumps(Bomb())),
    "a zip of a pickle, as other frameworks save": holding(_zip_with_pickle()),
    "a NumPy file with a pickle inside": holding(_numpy_with_pickle()),
    "nothing": holding(b""),
    "a header of 0 bytes": holding(bytes(8)),
    "a header of 2^64 - 1 bytes": holding(b"\xff" * 8),
    "a header of a terabyte": holding((2**40).to_bytes(8, "little") + b"{}"),
    "a header of a gigabyte, and the file too": sparse((2**30).to_bytes(8, "little"), 2**30 + 8),
    "ten consistent gigabytes": _huge_and_consistent(),
    "a header as deep as a mine": holding(safetensors(b'{"a":' * DEEP)),
    "a header of lists in lists": holding(safetensors(b"[" * DEEP)),
    "a header of ten million lists": holding(safetensors(b'{"a": [' + b"[]," * 10_000_000 + b"[]]}")),
    "a header that is a number": holding(safetensors(b"1")),
    "a header with a name twice": holding(
        safetensors(b'{"__metadata__": {}, "__metadata__": {"pc3d": "{}"}}')
    ),
    "an array of 2^60 numbers": one_array(shape=[2**40, 2**20]),
    "extents whose product overflows": one_array(shape=[2**32, 2**32]),
    "a negative extent": one_array(shape=[-2]),
    "an empty array with a huge extent": one_array(shape=[0, 2**62], data_offsets=[0, 0]),
    "an extent of thousands of digits": holding(
        safetensors(b'{"a": {"dtype": "F32", "shape": [%s], "data_offsets": [0, 8]}}' % HUGE.encode())
    ),
    "numbers beyond the end": one_array(shape=[2**20], data_offsets=[0, 2**22]),
    "numbers that end before they begin": one_array(data_offsets=[8, 0]),
    "a number type that does not exist": one_array(dtype="OBJECT"),
    "a number type that is a table": one_array(dtype={"a": 1}),
    "a description that is no JSON": _with_metadata("__import__('os')"),
    "a description that is a list": _with_metadata("[1]"),
    "a description as deep as a mine": _with_metadata('{"a":' * DEEP),
    "a description that is not text": _with_metadata({"a": 1}),
    "a description with a number of thousands of digits": _with_metadata(f'{{"format": {HUGE}}}'),
    "a description with infinity": _with_metadata('{"format": 1e999, "digest": NaN}'),
    "names that lead out of the folder": holding(to_bytes({"../../outside/bystander": np.zeros(2)}, {})),
    "fifteen thousand arrays": holding(
        to_bytes({f"{n:05}": np.zeros(0, np.float32) for n in range(15_000)}, {})
    ),
    **ODDITIES,
}


def signed(**changes: Any) -> Maker:
    """A policy with a correct checksum whose settings are not harmless; a name reaches into the settings."""
    described = json.loads(json.dumps(describe(EXPERIMENT, "policy")))
    for name, value in changes.items():
        *way, last = name.split("__")
        place = described
        for step in way:
            place = place[step]
        place[last] = value
    return holding(to_bytes(named_arrays(policy_of(EXPERIMENT, 1)), described))


def _world(**changes: Any) -> dict[str, Any]:
    world = {"stepped_by": "host", "horizon": 5, "observation_shape": [3], "action_names": ["a", "b"]}
    return {**world, "return_definition": "none", **changes}


SIGNED: Makers = {
    "a hundred thousand layers": signed(experiment__actor__widths=[1] * 100_000),
    "networks of four gigabytes": signed(experiment__actor__widths=[4096] * 16),
    "a critic of four gigabytes": signed(experiment__critic__set_encoder_widths=[4096] * 16),
    "a layer of 10^18 numbers": signed(experiment__actor__rnn_dim=10**18),
    "a team of a thousand million": signed(experiment__rosters__test=[10**9]),
    "a number of episodes of thirty digits": signed(experiment__episodes=10**30),
    "a learning rate of infinity": signed(experiment__algorithm__learning_rate=1e999),
    "a task whose name leads out of the folder": signed(experiment__task="../../outside"),
    "a task whose name is an absolute path": signed(experiment__task="/outside"),
    "a task that is somebody's code": signed(experiment__task=f"{TRAP}:make", experiment__world=_world()),
    "a task that is code of the system": signed(experiment__task="os:system", experiment__world=_world()),
    "observations of 10^24 numbers": signed(
        experiment__task=f"{TRAP}:make", experiment__world=_world(observation_shape=[10**6] * 4)
    ),
    "a method that is an expression": signed(experiment__method="__import__('os').getcwd()"),
    "a name that rewrites the terminal": signed(experiment__method=ESCAPES),
    "a setting named like a method of Python": signed(experiment__actor={"__class__": "x", "__init__": 1}),
    "settings as deep as a mine": signed(experiment__actor=json.loads("[" * 900 + "]" * 900)),
    "a kind that is a table": signed(kind={"policy": "policy"}),
}

STUDY = 'about = "x"\n[[groups]]\ntasks = ["spread"]\nmethods = ["pc3d"]\nseeds = [0]\n'
STUDIES: Makers = {
    "options that lead out of the folder": holding(f'{STUDY}options = ["--folder ../outside"]\n'),
    "the same with an equals sign": holding(f'{STUDY}options = ["--folder=../outside"]\n'),
    "options that name another seed": holding(f'{STUDY}options = ["--seed 5"]\n'),
    "a task that is a path": holding(STUDY.replace('"spread"', '"../../outside"')),
    "a task that is code": holding(STUDY.replace('"spread"', f'"{TRAP}:make"')),
    "a preset that is a Python file": holding(f'{STUDY}preset = "{TRAP}.py"\n'),
    "a preset that is a device": holding(f'{STUDY}preset = "/dev/zero"\n'),
    "a seed of thousands of digits": holding(STUDY.replace("[0]", f"[{HUGE}]")),
    "a seed of thousands of hexadecimal digits": holding(STUDY.replace("[0]", f"[0x{'f' * 20_000}]")),
    "a key of thirty thousand parts": holding(f"{'.'.join('a' * 30_000)} = 1\n"),
    "a table of thirty thousand parts": holding(f"[{'.'.join('a' * 30_000)}]\n"),
    "lists as deep as a mine": holding(f"about = {'[' * 30_000}"),
    "tables as deep as a mine": holding(f"about = {'{a=' * 20_000}"),
    "a pickle": holding(pickle.dumps(Bomb())),
    "two gigabytes": sparse(b"about = 1\n", 2**31),
    **ODDITIES,
}

PRESET = 'task = "spread"\nmethod = "pc3d"\n'
PRESETS: Makers = {
    "a task that is a path": holding('task = "../../outside"\nmethod = "pc3d"\n'),
    "a section of Python's own": holding(f"{PRESET}[__class__]\na = 1\n"),
    "a setting of Python's own": holding(f"{PRESET}[ppo]\n__init__ = 1\n"),
    "an expression for a number": holding(f"{PRESET}[ppo]\nepochs = \"__import__('os')\"\n"),
    "team sizes, which are none of its business": holding(f"{PRESET}[rosters]\ntest = [1]\n"),
    "a number of hexadecimal digits without end": holding(f"{PRESET}[ppo]\nepochs = 0x{'f' * 20_000}\n"),
    "a rate that is not a number": holding(f"{PRESET}[ppo]\nlearning_rate = nan\n"),
    "ten thousand layers": holding(f"{PRESET}[actor]\nwidths = [{'1,' * 10_000}]\n"),
    "a key of thirty thousand parts": holding(f"{'.'.join('a' * 30_000)} = 1\n"),
    "a setting that rewrites the terminal": holding(f'{PRESET}[ppo]\n"\\u001b]0;owned\\u0007" = 1\n'),
    "a pickle": holding(pickle.dumps(Bomb())),
    **ODDITIES,
}


def _experiment_json(**changes: Any) -> Maker:
    return holding(json.dumps({"experiment": {**to_plain(EXPERIMENT), **changes}}))


EXPERIMENTS: Makers = {
    "a task whose name leads out of the folder": _experiment_json(task="../../outside"),
    "a method whose name leads out of the folder": _experiment_json(method="../../outside"),
    "a name twice": holding('{"experiment": {}, "experiment": {}}'),
    "tables as deep as a mine": holding('{"experiment":' * DEEP),
    "a number of thousands of digits": holding(f'{{"experiment": {HUGE}}}'),
    "a list": holding("[]"),
    "two gigabytes": sparse(b"{", 2**31),
    **ODDITIES,
}


def database(*statements: str) -> Maker:
    """A search of ours in which somebody changed something by hand."""

    def make(path: Path) -> None:
        from pc3d.jobs.tuning.storage import Storage
        from tests.jobs.tuning.searches import small_plan

        storage = Storage(f"sqlite:///{path}", "a search", small_plan(), "here")
        storage.claim()
        storage.close()
        with sqlite3.connect(path) as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    return make


STORAGES: Makers = {
    "no database": holding("no database"),
    "a damaged database": holding(b"SQLite format 3\x00" + b"\xff" * 4096),
    "a pickle": holding(pickle.dumps(Bomb())),
    "a study that is another's": database("""UPDATE study_user_attributes SET value_json = '"x"'"""),
    "attributes that are no JSON": database("UPDATE study_user_attributes SET value_json = '__import__'"),
    "attributes as deep as a mine": database(
        f"UPDATE study_user_attributes SET value_json = '{'[' * DEEP}'",
    ),
    "a distribution of Python's own": database(
        """UPDATE trial_params SET distribution_json = '{"name": "__import__", "attributes": {"x": "os"}}'"""
    ),
    "a distribution that is no JSON": database("UPDATE trial_params SET distribution_json = 'os.system'"),
    "a value that was never searched": database(
        "UPDATE trial_params SET param_value = 1e300", "UPDATE trials SET state = 'COMPLETE'"
    ),
    "a state that does not exist": database("UPDATE trials SET state = 'PICKLED'"),
    "a schema of another version": database("UPDATE alembic_version SET version_num = 'v99'"),
    "a table of another shape": database("ALTER TABLE trials RENAME COLUMN state TO other"),
    "a folder": Path.mkdir,
}
