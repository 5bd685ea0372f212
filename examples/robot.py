"""One robot: it gets its own observations on standard input and answers with actions on standard output.

It needs NumPy, onnxruntime and a policy written by `pc3d export`, and knows nothing of its team.
"""

import argparse
import json
import sys

import numpy as np
import onnxruntime

NEW_EPISODE = b"n"  # an o is followed by an observation: as many float32 numbers as the policy sees,
# and, where the policy has masks, a byte for every action: 1 if it is allowed now


def main(policy: str, number: int) -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(policy, options, providers=["CPUExecutionProvider"])
    description = json.loads(session.get_modelmeta().custom_metadata_map["pc3d"])
    width, actions = sum(part["width"] for part in description["observation"]), len(description["actions"])
    inputs = [given.name for given in session.get_inputs()]
    start = np.zeros((1, description["memory"]["width"]), np.float32)
    memory, random = start, np.random.default_rng(number)
    while message := sys.stdin.buffer.read(1):  # nothing comes when nobody is there any more
        if message == NEW_EPISODE:
            memory = start
            continue
        given = {"observation": np.frombuffer(sys.stdin.buffer.read(4 * width), np.float32)[None]}
        if "action_mask" in inputs:
            given["action_mask"] = np.frombuffer(sys.stdin.buffer.read(actions), bool)[None]
        if "noise" in inputs:
            given["noise"] = random.standard_normal((1, actions), np.float32)
        said, memory, *_ = session.run(None, {**given, "memory": memory})
        numbers = "noise" in inputs  # an action of real numbers is sent as it is
        answer = said[0].tobytes() if numbers else bytes([choose(said[0], random.random())])
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()


def choose(probabilities: np.ndarray, chance: float) -> int:
    """The action that a uniform draw stands for."""
    return min(int((chance >= np.cumsum(probabilities)).sum()), int(np.flatnonzero(probabilities)[-1]))


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("policy", help="a file that pc3d export wrote: POLICY.onnx")
    words.add_argument("number", type=int, help="decides its random draws")
    main(**vars(words.parse_args()))
