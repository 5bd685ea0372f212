"""Named arrays over a pipe, as plain bytes: a length, a JSON header, then the numbers. No pickle."""

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

LENGTHS = struct.Struct("<II")  # of the header, and of all arrays together
KINDS = {"bool", "uint8", "int32", "uint32", "float32", "float64"}
Read = Callable[[int], bytes]  # exactly so many bytes


@dataclass(frozen=True)
class Frame:
    """One message: what it is, some arrays, and words where something went wrong."""

    name: str
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    words: str = ""


def to_bytes(frame: Frame) -> bytes:
    """The frame as it goes over the pipe."""
    arrays = {name: np.asarray(array, order="C") for name, array in frame.arrays.items()}
    table = [(name, array.dtype.name, array.shape) for name, array in arrays.items()]
    header = json.dumps([frame.name, frame.words, table]).encode()
    body = b"".join(array.tobytes() for array in arrays.values())
    return LENGTHS.pack(len(header), len(body)) + header + body


def read_frame(read: Read) -> Frame:
    """The next frame; `read` decides what happens where the pipe ends."""
    header_length, body_length = LENGTHS.unpack(read(LENGTHS.size))
    name, words, table = json.loads(read(header_length))
    body, start, arrays = read(body_length), 0, {}
    for array_name, kind, shape in table:
        if kind not in KINDS:
            raise ValueError(f"a frame holds numbers, not {kind}")
        end = start + np.dtype(kind).itemsize * int(np.prod(shape, dtype=np.int64))
        arrays[array_name] = np.frombuffer(body[start:end], kind).reshape(shape)
        start = end
    return Frame(name, arrays, words)
