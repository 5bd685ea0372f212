"""Arrays with a description in one safetensors file: self-describing, checked, and unable to run code.

One metadata key with sorted JSON: several keys would come out in another order in every process.
"""

import hashlib
import json
import math
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from pc3d.system.errors import BadInput, DamagedFile
from pc3d.system.files import opened, read_bytes, write_atomically
from pc3d.system.plain import parse

FORMAT = 1
KEY = "pc3d"
USUAL_SIZE = 32 * 2**20  # bytes; the paper's largest networks and their optimiser have about ten million
LARGEST_HEADER = 2**20  # names, shapes and the description
Shape = tuple[str, tuple[int, ...]]  # an array's number type and extents
Tree = TypeVar("Tree")


def save_tree(path: Path, tree: Any, description: dict[str, Any]) -> None:
    """Write all arrays of a tree, by name, with a description; whole or not at all."""
    write_atomically(path, to_bytes(named_arrays(tree), description))


def load_tree(path: Path, like: Tree) -> tuple[Tree, dict[str, Any]]:
    """Read a tree shaped like the given one (arrays or their shapes); all else is refused, and says why."""
    expected = {name: (str(leaf.dtype), tuple(leaf.shape)) for name, leaf in _named_leaves(like).items()}
    largest = sum(map(_bytes, expected.values())) + LARGEST_HEADER
    if path.is_file() and path.stat().st_size > largest:  # told from its header alone
        _refuse_other_shape(path, _shapes_in_header(path), expected)
    arrays, description = read_file(path, largest)
    found = {name: (str(array.dtype), array.shape) for name, array in arrays.items()}
    _refuse_other_shape(path, found, expected)
    leaves = [jnp.asarray(arrays[name]) for name in expected]
    return jax.tree.unflatten(jax.tree.structure(like), leaves), description


def read_file(path: Path, largest: int = USUAL_SIZE) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the description in a file, after every byte of it was checked."""
    return from_bytes(read_bytes(path, largest), str(path))


def read_description(path: Path) -> dict[str, Any]:
    """What a file says about itself, which tells how large it should be.

    A file of unusual size is not read for that: whoever goes on to load its arrays checks the rest of it.
    """
    if path.is_file() and path.stat().st_size > USUAL_SIZE:
        return _description(_header(_beginning(path), str(path)), str(path))
    return read_file(path)[1]


def from_bytes(content: bytes, where: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the description in a file's content, after every byte of it was checked."""
    description = _description(_header(content, where), where)
    try:
        arrays = load(content)
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError):
        raise _foreign(where) from None
    if description.get("digest") != _digest(arrays, description):
        raise DamagedFile(f"{where} is damaged: its content does not match its checksum")
    if description.get("format") != FORMAT:
        raise BadInput(
            f"{where} has format {description.get('format')}, this version of pc3d reads {FORMAT}: "
            "use the version that wrote it"
        )
    if to_bytes(arrays, description) != content:
        raise DamagedFile(f"{where} is damaged: it is not byte for byte what pc3d writes")
    return arrays, description


def to_bytes(arrays: dict[str, np.ndarray], description: dict[str, Any]) -> bytes:
    """The file's content: a function of what is in it alone."""
    description = {**description, "format": FORMAT}
    description["digest"] = _digest(arrays, description)
    return save(dict(sorted(arrays.items())), {KEY: json.dumps(description, sort_keys=True)})


def named_arrays(tree: Any) -> dict[str, np.ndarray]:
    """All arrays of a tree, by their dotted names."""
    return {name: np.asarray(leaf) for name, leaf in _named_leaves(tree).items()}


def _named_leaves(tree: Any) -> dict[str, Any]:
    paths, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in paths}


def _refuse_other_shape(path: Path, found: dict[str, Shape], expected: dict[str, Shape]) -> None:
    if expected.keys() != found.keys():
        odd = sorted(expected.keys() ^ found.keys())[0]
        has = "lacks" if odd in expected else "has an unknown"
        raise BadInput(f"{path} is of another shape: it {has} {odd}")
    for name, (kind, extents) in expected.items():
        if found[name] != (kind, extents):
            found_kind, found_extents = found[name]
            raise BadInput(
                f"{path} is of another shape: {name} is {found_kind}{list(found_extents)}, "
                f"not {kind}{list(extents)}"
            )


def _bytes(shape: Shape) -> int:
    kind, extents = shape
    return np.dtype(kind).itemsize * math.prod(extents)


def _digest(arrays: dict[str, np.ndarray], description: dict[str, Any]) -> str:
    told = {name: value for name, value in description.items() if name != "digest"}
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _header(content: bytes, where: str) -> dict[str, Any]:
    """The header of a safetensors file: after eight bytes of length comes JSON."""
    length = int.from_bytes(content[:8], "little")
    if length > LARGEST_HEADER:
        raise _foreign(where)
    try:
        header = parse(content[8 : 8 + length].decode(), where)
    except (UnicodeDecodeError, BadInput):
        raise _foreign(where) from None
    if not isinstance(header, dict):
        raise _foreign(where)
    return header


def _description(header: dict[str, Any], where: str) -> dict[str, Any]:
    metadata = header.get("__metadata__")
    text = metadata.get(KEY) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise _foreign(where)
    try:
        description = parse(text, where)
    except BadInput as error:
        raise DamagedFile(str(error)) from None
    if not isinstance(description, dict):
        raise _foreign(where)
    return description


def _shapes_in_header(path: Path) -> dict[str, Shape]:
    """As the header has them; nothing is checked but that they can be told."""
    header = _header(_beginning(path), str(path))
    header.pop("__metadata__", None)
    try:
        return {name: (NUMBERS[one["dtype"]], tuple(one["shape"])) for name, one in header.items()}
    except (KeyError, TypeError):
        raise _foreign(str(path)) from None


def _beginning(path: Path) -> bytes:
    with opened(path) as file:
        return file.read(8 + LARGEST_HEADER)


def _foreign(where: str) -> DamagedFile:
    return DamagedFile(f"{where} is damaged or was not written by pc3d")


NUMBERS = {"F32": "float32", "I32": "int32", "U32": "uint32", "BOOL": "bool"}  # all that a learner is made of
