"""A policy from `pc3d export RUN policy.safetensors`, played with NumPy alone: one agent, step by step."""

import argparse
import json

import numpy as np


class NumpyPolicy:
    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:  # eight bytes of length, a JSON header, then all numbers
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            content = file.read()
        self.about = json.loads(header.pop("__metadata__")["pc3d"])
        self.network = self.about["network"]
        if self.network.get("rounds"):
            raise SystemExit("this policy's agents send each other messages, and here one plays alone")
        self.activate = {"relu": lambda x: np.maximum(x, 0), "tanh": np.tanh}[self.network["activation"]]
        self.start = np.zeros(self.about["memory"]["width"], np.float32)  # the memory before the first step
        self.weights = {}
        for name, entry in header.items():
            numbers = np.frombuffer(content[slice(*entry["data_offsets"])], "<f4")
            self.weights[name.removeprefix("conditioning.")] = numbers.reshape(entry["shape"])

    def step(self, observation, memory, allowed=True, noise=0.0) -> tuple[np.ndarray, np.ndarray]:
        """Action probabilities (all of it for the best one, where a policy is greedy) and the next memory.

        Where an action is real numbers, the action itself: by chance with standard normal noise.
        """
        encoding = self.activate(self.mlp("encoder", observation))
        seen, remembered = self.dense("memory.from_input", encoding), self.dense("memory.from_memory", memory)
        reset, keep, _ = np.split(0.5 + 0.5 * np.tanh((seen + remembered) / 2), 3)  # sigmoid
        candidate = np.tanh(np.split(seen, 3)[2] + reset * np.split(remembered, 3)[2])
        memory = candidate + keep * (memory - candidate)
        logits = self.logits(memory)
        if box := self.network.get("box"):
            low, high = np.array([box["low"], box["high"]], np.float32)
            reached = np.tanh(logits + np.exp(self.weights["squashing.log_deviation"]) * noise)
            return np.clip((low + high) / 2 + (high - low) / 2 * reached, low, high), memory
        logits = np.where(allowed, logits, -np.inf)  # where a task has masks
        exponentials = np.exp((1e30 if self.network.get("greedy") else 1) * (logits - logits.max()))
        return exponentials / exponentials.sum(), memory

    def logits(self, features: np.ndarray) -> np.ndarray:
        if self.network["conditioning"] == "plain":
            return self.dense("head", features)
        context, gate = self.dense("student.to_context", features), float(self.network["gate"] == "on")
        if self.network["gate"] == "adaptive":
            reliance = np.clip(self.dense("student.to_reliance", features), *self.network["reliance_range"])
            scale, offset = self.weights["student.gate_scale"], self.weights["student.gate_offset"]
            gate = 0.5 + 0.5 * np.tanh((scale * reliance + offset) / 2)  # sigmoid
        if self.network["conditioning"] == "film":
            scale, shift = np.split(self.dense("to_modulation", context), 2)
            return self.dense("head", features + gate * (features * scale + shift))
        change = self.mlp("hypernetwork", context).reshape(features.size + 1, -1)
        return self.dense("head", features) + gate * (features @ change[:-1] + change[-1])

    def mlp(self, name: str, inputs: np.ndarray) -> np.ndarray:
        for layer in range(self.network[f"{name}_layers"]):
            inputs = self.dense(f"{name}.layers.{layer}", self.activate(inputs) if layer else inputs)
        return inputs

    def dense(self, name: str, inputs: np.ndarray) -> np.ndarray:
        return inputs @ self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("policy", type=argparse.FileType("rb"), help="a file that pc3d export wrote")
    words.add_argument("observation", type=float, nargs="+", help="the numbers of one observation")
    said = words.parse_args()
    policy, seen = NumpyPolicy(said.policy.name), np.float32(said.observation)
    print(policy.about["actions"], policy.step(seen, policy.start)[0])
