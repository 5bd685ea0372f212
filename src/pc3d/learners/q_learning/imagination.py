"""What a team's actions would be worth if entities mattered only within and across two random groups."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pc3d.learners.experience import remembered_by
from pc3d.learners.q_learning.coaching import says
from pc3d.networks.actor import Actor
from pc3d.networks.build import Networks
from pc3d.networks.critics import TeamView
from pc3d.networks.entity_groups import Groups
from pc3d.networks.entity_mixer import EntityMixer, ImaginedUtilities
from pc3d.play.choosing import of_action
from pc3d.play.episode import Episode
from pc3d.tasks.entity_rows import Rows, renumbered, unpacked


def imagined_values(
    networks: Networks,
    episodes: Episode,
    seen: Float[Array, "episode moment agent observation"],
    groups: Groups,
    heard: Float[Array, "episode moment agent number"] | None = None,
    *,
    roster_changes: bool,
) -> Float[Array, "episode time"]:
    """Q_tot of every step, from utilities under masks of the groups: two more passes over the episodes."""
    mixer = networks.critic
    assert isinstance(mixer, EntityMixer), "groups are of entities"
    rows = unpacked(seen, mixer.attention.features)
    utilities = imagined_utilities(
        networks.actor, episodes, rows, groups, heard, roster_changes=roster_changes
    )
    assert episodes.global_states is not None, "entities are kept with the episodes"
    present, states = jnp.asarray(episodes.present[:, :-1]), jnp.asarray(episodes.global_states[:, :-1])
    return mixer.imagined(TeamView(seen[:, :-1], present, None, states), groups, utilities)


def imagined_utilities(
    actor: Actor,
    episodes: Episode,
    rows: Rows,
    groups: Groups,
    heard: Float[Array, "episode moment agent number"] | None = None,
    *,
    roster_changes: bool,
) -> ImaginedUtilities:
    """Of what was done, to whoever sees of its own group alone, and of the other one alone.

    What was heard in play stays as it was.
    """
    near = groups.alike(rows.numbers, rows.numbers[..., :1])[..., 0, :]

    def utilities(numbers: Array) -> Array:
        seen = renumbered(rows, numbers)
        features = remembered_by(actor, episodes, seen, roster_changes=roster_changes)
        said = says(actor, features, heard)
        return of_action(said.logits[:, :-1], episodes.actions)

    afar = jnp.where(near, 0, rows.numbers)
    return ImaginedUtilities(
        within=utilities(jnp.where(near, rows.numbers, 0)),
        across=utilities(afar),
        sees_across=jnp.any(afar != 0, axis=-1)[:, :-1],
    )
