"""A mixer whose weights come from attention over all entities, and what it imagines of groups of them."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from pc3d.experiment.network_settings import CriticSettings
from pc3d.networks.critics import CriticInputs, TeamView, beside, team_share
from pc3d.networks.entity_attention import EntityAttention
from pc3d.networks.entity_groups import Groups
from pc3d.networks.mixers import MonotoneMixer, utilities_of, weighed
from pc3d.tasks.entity_rows import Rows, all_rows


class ImaginedUtilities(NamedTuple):
    """What actions are worth to agents that attend to their own group, or to the other one, alone."""

    within: Float[Array, "... agent"]
    across: Float[Array, "... agent"]
    sees_across: Bool[Array, "... agent"]
    """Who sees anything of the other group at all."""


class EntityMixer(MonotoneMixer):
    """QMIX on entities: x_i = [e_i; a_i] over all there are; w_i from x_i, the rest from their mean."""

    attention: EntityAttention
    team_size_feature: bool = eqx.field(static=True)
    largest_team: int = eqx.field(static=True)

    def __init__(self, key: PRNGKeyArray, inputs: CriticInputs, settings: CriticSettings) -> None:
        assert inputs.entities is not None, "a mixer of entities is built for their features"
        attention_key, mixer_key = jax.random.split(key)
        self.attention = EntityAttention(attention_key, inputs.entities, inputs.activation)
        self.team_size_feature, self.largest_team = settings.team_size_feature, inputs.largest_team
        width = 2 * inputs.entities.width
        super().__init__(mixer_key, inputs, settings, width, width + settings.team_size_feature)

    def seen(self, view: TeamView) -> tuple[Float[Array, "... agent width"], Float[Array, "... team"]]:
        rows = self._rows(view)
        found = self.attention.of_agents(rows, view.present.shape[-1])
        summary = jnp.mean(found, axis=-2, where=view.present[..., None])
        size = team_share(view.present, self.largest_team) if self.team_size_feature else None
        return self.to_rows(found)[..., 0, :], beside(summary, size)

    def __call__(self, view: TeamView) -> Float[Array, "..."]:
        rows, team = self.seen(view)
        return self.mixed(weighed(view, rows, utilities_of(view)), team)

    def imagined(
        self, view: TeamView, groups: Groups, utilities: ImaginedUtilities
    ) -> Float[Array, "episode moment"]:
        """REFIL: the value from both utilities of everybody, each with weights that see as much as it does.

        What is not of an agent's weight is as ever. Whoever sees nothing across has nothing to add of it:
        so where all are in one group, this is the team's value.
        """
        rows = self._rows(view)
        there = rows.numbers[..., None, :] != 0
        agents = view.present.shape[-1]
        alike = groups.alike(rows.numbers, rows.numbers[..., :agents])

        def part(near: Array, said: Array, counts: Array) -> Array:
            weights = self.to_rows(self.attention.of_agents(rows, agents, there & near))[..., 0, :]
            return weighed(view, weights, jnp.where(counts, said, 0))

        within = part(alike, utilities.within, view.present)
        across = part(~alike, utilities.across, view.present & utilities.sees_across)
        return self.mixed(within + across, self.seen(view)[1])

    def _rows(self, view: TeamView) -> Rows:
        assert view.global_state is not None, "a mixer of entities is given all of them"
        return all_rows(view.global_state, self.attention.features)
