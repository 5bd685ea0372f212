"""How ours and other people's learners take turns."""

import sys
from pathlib import Path

import pytest

from pc3d.benchmark.peers.with_pc3d import experiment_of
from pc3d.benchmark.peers.work import Contestant, Work, contestants, measure_peers
from pc3d.system.errors import BadInput, Pc3dError

# Answers with the number of episodes it was told, and is slow in its first turn, as a compiler is.
PEER = """
import json, sys
work = json.loads(sys.argv[1])
print(json.dumps({"ready": True}), flush=True)
for turn, _ in enumerate(sys.stdin):
    seconds = work["episodes"] if turn else 1e9
    print(json.dumps({"seconds": seconds, "learning": seconds / 4}), flush=True)
"""


def test_everybody_is_told_the_work_and_the_first_turn_does_not_count():
    peers = [Contestant(title, (sys.executable, "-c", PEER)) for title in ("one", "other")]
    first, second = measure_peers(Work(episodes=8), peers, turns=3)
    assert (first.title, second.title) == ("one", "other")
    assert first.update_seconds == 8
    assert first.learning_seconds == 2
    assert first.playing_seconds == 6


def test_a_peer_that_breaks_is_named():
    broken = Contestant("Broken", (sys.executable, "-c", "raise SystemExit(3)"))
    with pytest.raises(Pc3dError, match="Broken ended with code 3"):
        measure_peers(Work(), [broken], turns=1)


def test_without_the_peers_environment_it_says_how_to_make_it():
    with pytest.raises(BadInput, match="make peers"):
        contestants(Path("nowhere/python"))


def test_ours_has_the_work_s_layers_epochs_and_team():
    work = Work(agents=2, episodes=6, width=16, epochs=3)
    experiment = experiment_of(work)
    assert experiment.actor.widths == (16,)
    assert experiment.actor.rnn_dim == 16
    assert experiment.critic.widths == (16, 16)
    assert experiment.algorithm.epochs == 3
    assert experiment.episodes_per_update == experiment.algorithm.batch_size == 6
    assert experiment.rosters.train == (2,)
