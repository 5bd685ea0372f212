"""One robot: it gets its own observations on standard input and answers with actions on standard output.

It needs NumPy, onnxruntime and a policy written by `pc3d export`, and knows nothing of its team.
"""

import argparse
import json
import sys

import numpy as np
import onnxruntime

NEW_EPISODE = b"n"  # an o is followed by an observation: as many float32 numbers as the policy sees


def main(policy: str, number: int) -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(policy, options, providers=["CPUExecutionProvider"])
    description = json.loads(session.get_modelmeta().custom_metadata_map["pc3d"])
    width = sum(part["width"] for part in description["observation"])
    start = np.zeros((1, description["memory"]["width"]), np.float32)
    memory, random = start, np.random.default_rng(number)
    while message := sys.stdin.buffer.read(1):  # nothing comes when nobody is there any more
        if message == NEW_EPISODE:
            memory = start
            continue
        seen = np.frombuffer(sys.stdin.buffer.read(4 * width), np.float32)[None]
        probabilities, memory, *_ = session.run(None, {"observation": seen, "memory": memory})
        sys.stdout.buffer.write(bytes([choose(probabilities[0], random.random())]))
        sys.stdout.buffer.flush()


def choose(probabilities: np.ndarray, chance: float) -> int:
    """The action that a uniform draw stands for."""
    return min(int((chance >= np.cumsum(probabilities)).sum()), len(probabilities) - 1)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("policy", help="a file that pc3d export wrote: POLICY.onnx")
    words.add_argument("number", type=int, help="decides its random draws")
    main(**vars(words.parse_args()))
