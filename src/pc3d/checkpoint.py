"""Arrays with a description in one safetensors file: self-describing, checked, and unable to run code.

One metadata key with sorted JSON: several keys would come out in another order in every process.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from pc3d.errors import BadInput
from pc3d.files import write_atomically
from pc3d.plain import parse

FORMAT = 1
KEY = "pc3d"
Tree = TypeVar("Tree")


class DamagedFile(BadInput):
    """A file that is not what was once written."""


def save_tree(path: Path, tree: Any, description: dict[str, Any]) -> None:
    """Write all arrays of a tree, by name, with a description; whole or not at all."""
    write_atomically(path, to_bytes(_named(tree), description))


def load_tree(path: Path, like: Tree) -> tuple[Tree, dict[str, Any]]:
    """Read a tree shaped like the given one; anything else in the file is refused, with the difference."""
    arrays, description = read_file(path)
    expected = _named(like)
    if expected.keys() != arrays.keys():
        odd = sorted(expected.keys() ^ arrays.keys())[0]
        has = "lacks" if odd in expected else "has an unknown"
        raise BadInput(f"{path} is of another shape: it {has} {odd}")
    for name, array in expected.items():
        found = arrays[name]
        if found.shape != array.shape or found.dtype != array.dtype:
            raise BadInput(
                f"{path} is of another shape: {name} is {found.dtype}{list(found.shape)}, "
                f"not {array.dtype}{list(array.shape)}"
            )
    leaves = [jnp.asarray(arrays[name]) for name in expected]
    return jax.tree.unflatten(jax.tree.structure(like), leaves), description


def read_file(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the description in a file, after every byte of it was checked."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    try:
        arrays = load(content)
        text = _metadata(content)[KEY]
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise DamagedFile(f"{path} is damaged or was not written by pc3d") from None
    try:
        description = parse(text, str(path))
    except BadInput as error:
        raise DamagedFile(str(error)) from None
    if not isinstance(description, dict) or description.get("digest") != _digest(arrays, description):
        raise DamagedFile(f"{path} is damaged: its content does not match its checksum")
    if description.get("format") != FORMAT:
        raise BadInput(f"{path} has format {description.get('format')}, this version of pc3d reads {FORMAT}")
    if to_bytes(arrays, description) != content:
        raise DamagedFile(f"{path} is damaged: it is not byte for byte what pc3d writes")
    return arrays, description


def to_bytes(arrays: dict[str, np.ndarray], description: dict[str, Any]) -> bytes:
    """The file's content: a function of what is in it alone."""
    description = {**description, "format": FORMAT}
    description["digest"] = _digest(arrays, description)
    return save(dict(sorted(arrays.items())), {KEY: json.dumps(description, sort_keys=True)})


def _digest(arrays: dict[str, np.ndarray], description: dict[str, Any]) -> str:
    told = {name: value for name, value in description.items() if name != "digest"}
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _metadata(content: bytes) -> dict[str, str]:
    """The metadata of a safetensors file: after eight bytes of length comes a JSON header."""
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length])["__metadata__"]


def _named(tree: Any) -> dict[str, np.ndarray]:
    paths, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path, simple=True, separator="."): np.asarray(leaf) for path, leaf in paths}
