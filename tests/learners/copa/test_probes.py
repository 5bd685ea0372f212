"""COPA solves a tiny task that its coach alone can see through."""

from dataclasses import dataclass, replace
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from pc3d.experiment.copa_settings import CopaSettings
from pc3d.play.arena import CompiledArena
from pc3d.play.coached_team import CoachedTeam
from pc3d.play.scores import returns_by_size
from pc3d.tasks.entities import EntityKind, view_of
from tests.learners.entity_probes import SETTINGS
from tests.learners.replayed_probes import trained_with
from tests.probes import Probe


@dataclass(frozen=True)
class Whisper(Probe):
    """A bit of everybody's own that the coach sees, at the first step alone, is to be done at the others.

    Best return 4; without a coach exactly 2 on average, since views are the same whatever the bit. At the
    steps that count the mixer does not see it either: one that does can do without words, as it learns to
    weigh at nothing whoever's first guess is wrong.
    """

    name: ClassVar[str] = "whisper"
    most_visible: ClassVar[int] = 1

    def reward(self, state, actions):
        return jnp.where(state.time > 0, self.share(state, actions == state.cues), 0.0)

    def entities(self, state):
        bits = jnp.where(state.time == 0, 2.0 * state.cues - 1, 0.0)
        columns = {"place": jnp.zeros(self.slots), "bit": bits}
        team = EntityKind("agent", columns, self.present(state))
        return view_of((team,), jnp.eye(self.slots, dtype=bool), ("place",))


def whisper(slots):
    return Whisper(slots).shown_by_entity()


def test_nobody_but_the_coach_sees_the_bit_and_that_at_first():
    game = whisper(3)
    first = game.reset(jax.random.key(0), 3)
    for time in range(5):
        zero, one = (replace(first, time=jnp.asarray(time), cues=jnp.full(3, bit)) for bit in (0, 1))
        np.testing.assert_array_equal(game.shown(zero), game.shown(one))
        assert np.array_equal(game.whole(zero), game.whole(one)) == (time > 0)


def test_what_the_coach_alone_has_seen_is_done_and_without_it_agents_guess():
    settings = CopaSettings(**SETTINGS, broadcast_width=4, broadcast_every=5)
    learner, worst = trained_with(settings, "copa", whisper, updates=18)
    assert worst > 3.8
    silent = CoachedTeam(learner.networks.acting, every=0)
    alone = returns_by_size(CompiledArena(whisper(3)), silent, (3,), 64)[3]
    assert 1.5 < np.mean(alone) < 2.5
