"""A-QMIX and REFIL solve a tiny task whose answer stands in one of several entities."""

from dataclasses import dataclass, replace
from typing import ClassVar

import jax.numpy as jnp

from pc3d.experiment.entity_settings import EntityQSettings, RefilSettings
from pc3d.tasks.entities import EntityKind, EntitySet, view_of
from tests.learners.entity_probes import SETTINGS
from tests.learners.replayed_probes import trained_with
from tests.probes import Probe


@dataclass(frozen=True)
class Signpost(Probe):
    """Everybody sees a signpost with a bit that is to be done, and two decoys with other ones: best return 5.

    The mixer sees agents alone, lest it weighs at nothing whoever's first guess is wrong.
    """

    name: ClassVar[str] = "signpost"
    most_visible: ClassVar[int] = 4

    def reward(self, state, actions):
        return self.share(state, actions == state.cues[0])

    def entities(self, state):
        slots, bits = self.slots, 2.0 * state.cues - 1
        team = EntityKind("agent", {"place": jnp.zeros(slots)}, self.present(state))
        signs = (of_kind("signpost", bits[:1]), of_kind("decoy", bits[1:3]))
        visible = jnp.broadcast_to(jnp.arange(slots + 3) >= slots, (slots, slots + 3))
        view = view_of((team, *signs), visible, ("place",))
        agents = EntitySet(view.features[:slots], view.there[:slots], jnp.arange(slots))
        return replace(view, central=agents)


def of_kind(name, bits):
    columns = {"place": jnp.zeros(len(bits)), "bit": bits}
    return EntityKind(name, columns, jnp.ones(len(bits), bool), ("place", "bit"))


def signpost(slots):
    return Signpost(slots).shown_by_entity()


def test_a_qmix_does_what_stands_in_one_entity_of_several():
    _, worst = trained_with(EntityQSettings(**SETTINGS), "a-qmix", signpost, updates=24)
    assert worst > 4.75


def test_refil_learns_from_imagined_groups_alone_what_is_done_where_all_is_seen():
    settings = RefilSettings(**SETTINGS, imagination=1.0)
    _, worst = trained_with(settings, "refil", signpost, updates=24)
    assert worst > 4.75
