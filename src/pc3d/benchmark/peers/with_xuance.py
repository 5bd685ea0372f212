"""XuanCe, for `pc3d benchmark peers`: run by the peers' own Python, so it knows nothing of pc3d."""

import json
import os
import sys
import tempfile
import time
from types import SimpleNamespace
from typing import Any

# What a library prints must not get among the answers.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import torch  # noqa: E402
from xuance.common import get_arguments  # noqa: E402
from xuance.environment import make_envs  # noqa: E402
from xuance.torch.agents import MAPPO_Agents  # noqa: E402


def answer(said: dict[str, Any]) -> None:
    print(json.dumps(said), file=ANSWERS, flush=True)


def learners(work: dict[str, int]) -> Any:
    """XuanCe's game has three agents and 25 steps of its own accord."""
    width, episodes = work["width"], work["episodes"]
    settings: SimpleNamespace = get_arguments(
        "mappo", "mpe", "simple_spread_v3", parser_args=SimpleNamespace()
    )
    vars(settings).update(
        continuous_action=False,
        policy="Categorical_MAAC_Policy",
        representation="Basic_RNN",
        vectorize="DummyVecMultiAgentEnv",
        use_rnn=True,
        fc_hidden_sizes=[width],
        recurrent_hidden_size=width,
        actor_hidden_size=[],
        critic_hidden_size=[width],
        parallels=episodes,
        buffer_size=episodes,
        n_epochs=work["epochs"],
        n_minibatch=1,
        device="cpu",
    )
    del settings.normalize  # layers without normalisation, as the others' are
    return MAPPO_Agents(settings, make_envs(settings))


def main(work: dict[str, int]) -> None:
    torch.set_num_threads(1)
    team = learners(work)
    answer({"ready": True})
    while sys.stdin.readline():
        begun = time.perf_counter()
        team.run_episodes(n_episodes=work["episodes"], close_envs=False)
        collected = time.perf_counter()
        team.train_epochs(n_epochs=work["epochs"])
        ended = time.perf_counter()
        answer({"seconds": ended - begun, "learning": ended - collected})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # XuanCe writes its logs where it is started
        main(json.loads(sys.argv[1]))
