"""BenchMARL, for `pc3d benchmark peers`: run by the peers' own Python, so it knows nothing of pc3d."""

import json
import os
import sys
import tempfile
import time
from typing import Any

# What a library prints must not get among the answers.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import torch  # noqa: E402
from benchmarl.algorithms import MappoConfig  # noqa: E402
from benchmarl.environments import PettingZooTask  # noqa: E402
from benchmarl.experiment import Callback, Experiment, ExperimentConfig  # noqa: E402
from benchmarl.models import GruConfig, MlpConfig  # noqa: E402


class Turns(Callback):
    """After each update, answer with its seconds, and wait for the next turn."""

    begun = collected = 0.0

    def on_batch_collected(self, *_: Any) -> None:
        self.collected = time.perf_counter()

    def on_train_end(self, *_: Any) -> None:
        ended = time.perf_counter()
        answer({"seconds": ended - self.begun, "learning": ended - self.collected})
        self.wait()

    def wait(self) -> None:
        if not sys.stdin.readline():
            os._exit(0)
        self.begun = time.perf_counter()


def answer(said: dict[str, Any]) -> None:
    print(json.dumps(said), file=ANSWERS, flush=True)


def settings(work: dict[str, int], folder: str) -> ExperimentConfig:
    config = ExperimentConfig.get_from_yaml()
    frames = work["episodes"] * work["horizon"]
    config.on_policy_collected_frames_per_batch = config.on_policy_minibatch_size = frames
    config.on_policy_n_envs_per_worker = work["episodes"]
    config.on_policy_n_minibatch_iters = work["epochs"]
    config.max_n_frames = 1_000_000 * frames
    config.prefer_continuous_actions = config.evaluation = config.render = config.create_json = False
    config.loggers, config.save_folder = [], folder
    return config


def main(work: dict[str, int], folder: str) -> None:
    torch.set_num_threads(1)
    width, turns = work["width"], Turns()
    game = PettingZooTask.SIMPLE_SPREAD.get_from_yaml()
    game.config |= {"N": work["agents"], "max_cycles": work["horizon"]}
    activations = {"activation_class": torch.nn.ReLU, "layer_class": torch.nn.Linear}
    experiment = Experiment(
        task=game,
        algorithm_config=MappoConfig.get_from_yaml(),
        # The recurrent layer comes first in BenchMARL's model, the dense one after it.
        model_config=GruConfig(
            hidden_size=width,
            n_layers=1,
            bias=True,
            dropout=0.0,
            compile=False,
            mlp_num_cells=[width],
            mlp_layer_class=torch.nn.Linear,
            mlp_activation_class=torch.nn.ReLU,
        ),
        critic_model_config=MlpConfig(num_cells=[width, width], **activations),
        seed=0,
        config=settings(work, folder),
        callbacks=[turns],
    )
    answer({"ready": True})
    turns.wait()
    experiment.run()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(json.loads(sys.argv[1]), scratch)
