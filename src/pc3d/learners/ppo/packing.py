"""A minibatch without its empty slots, in pieces that stay in the processor's cache.

Gradients of the pieces add up to the minibatch's. An update then computes what active agents need and little
more, and large minibatches are no slower than small ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Num, Shaped

from pc3d.learners.ppo.sequences import NOTHING, SequencePlan, Sequences
from pc3d.networks.seating import NOBODY, Seating

ROW_STEPS = 900  # of a piece, agents times moments; measured: `pc3d benchmark train`
RUNGS = 4  # how many numbers of rows there are programs for where a minibatch is one piece, which none fills
SPARE = 1.15  # places for teams, where more of them share a piece, beside what they usually fill


class Piece(eqx.Module):
    """Some teams of a minibatch. Agents come in rows, or, as they were played, by team and slot."""

    first_memory: Float[Array, "*rows h"]
    observations: Float[Array, "time *rows observation"]  # zero where nobody is
    fresh: Bool[Array, " time *rows"] | None
    decisions: Bool[Array, " time *rows"]
    actions: Num[Array, "time ..."]
    log_probabilities: Float[Array, " time *rows"]
    advantages: Float[Array, " time *rows"]
    teacher_contexts: Float[Array, "time *rows context"] | None
    teammates: Float[Array, "time *rows context"] | None
    present: Bool[Array, "time team agent"]
    played: Bool[Array, "time team"]
    global_states: Float[Array, "time team state"] | None
    value_targets: Float[Array, " time *valued"]  # by team, or as the rows for local values
    values: Float[Array, " time *valued"]
    seating: Seating | None
    allowed: Bool[Array, "time *rows action"] | None = None
    links: Bool[Array, "time team agent agent"] | None = None


@dataclass(frozen=True)
class PieceShape:
    """How large pieces are; known before anything is played."""

    teams: int
    rows: tuple[int, ...]
    """The number of rows that are computed: the least of these that is enough."""
    single: bool
    """Whether a piece holds a whole minibatch."""

    @staticmethod
    def make(plan: SequencePlan, slots: int, usual_team: float) -> PieceShape:
        """Of about so many steps of agents; a minibatch that has no more of them is one piece."""
        sequences, rows = plan.sequences_per_minibatch, max(1, ROW_STEPS // (plan.length * slots)) * slots
        if sequences * slots <= rows:
            rungs = {-(-sequences * slots * rung // RUNGS) for rung in range(1, RUNGS + 1)}
            return PieceShape(sequences, tuple(sorted(rungs)), single=True)
        # Hardly more places for teams than are filled: an empty one costs as much as another. More numbers
        # of rows here, too, would save 4 % of the work, for a start that takes half as long again.
        return PieceShape(math.ceil(SPARE * rows / usual_team), (rows,), single=False)


class Packing(eqx.Module):
    """Which teams and agents of a minibatch go into which piece."""

    count: Int[Array, ""]
    """The number of pieces; those after it are empty."""
    teams: Int[Array, "piece team"]
    """Numbers of sequences, or NOTHING."""
    rows: Int[Array, "piece row"]
    """sequence * slots + agent, or NOBODY."""
    seats: Int[Array, "piece team agent"]
    places: Int[Array, "piece row"]


def pack(shape: PieceShape, there: Bool[Array, "all agent"], numbers: Int[Array, " sequence"]) -> Packing:
    """The largest teams first, each into the first piece that still has room for it.

    `there` tells of all sequences of the update who is there at any moment, `numbers` which of them to pack.
    """
    there = there[numbers] & (numbers != NOTHING)[:, None]
    (count, slots), rows, teams = there.shape, shape.rows[-1], shape.teams
    sizes = jnp.sum(there, axis=-1)
    piece, row, team = _first_fit(sizes, rows, teams)
    rank = jnp.cumsum(there, axis=-1) - 1
    agent, beyond = jnp.arange(slots), count * rows * teams * slots
    at_row = jnp.where(there, (piece * rows + row)[:, None] + rank, beyond)
    at_team = jnp.where(sizes > 0, piece * teams + team, beyond)
    at_seat = jnp.where(there, at_team[:, None] * slots + agent, beyond)

    def filled(fill: int, width: int, at: Array, value: Array) -> Array:
        return jnp.full(count * width, fill).at[at].set(value, mode="drop").reshape(count, width)

    return Packing(
        count=jnp.max(jnp.where(sizes > 0, piece, -1)) + 1,
        teams=filled(NOTHING, teams, at_team, numbers),
        rows=filled(NOBODY, rows, at_row, numbers[:, None] * slots + agent),
        seats=filled(0, teams * slots, at_seat, row[:, None] + rank).reshape(count, teams, slots),
        places=filled(NOBODY, rows, at_row, team[:, None] * slots + agent),
    )


def _first_fit(
    sizes: Int[Array, " sequence"], rows: int, teams: int
) -> tuple[Int[Array, " sequence"], Int[Array, " sequence"], Int[Array, " sequence"]]:
    """For each team: its piece, its first row in it, and its number there."""

    def place(free: Array, size: Array) -> tuple[Array, tuple[Array, Array, Array]]:
        free_rows, free_teams = free
        piece = jnp.argmax((free_rows >= size) & (free_teams > 0))
        taken = jnp.stack([size, jnp.minimum(size, 1)])
        where = piece, rows - free_rows[piece], teams - free_teams[piece]
        return free.at[:, piece].add(-taken), where

    order = jnp.argsort(-sizes)
    free = jnp.broadcast_to(jnp.array([[rows], [teams]]), (2, len(sizes)))
    _, places = jax.lax.scan(place, free, sizes[order])
    piece, row, team = (jnp.zeros_like(part).at[order].set(part) for part in places)
    return piece, row, team


def piece_of(sequences: Sequences, packing: Packing, number: Int[Array, ""], rows: int) -> Piece:
    """One piece's data, of its first so many rows."""
    at_row, at_team = packing.rows[number, :rows], packing.teams[number]
    slots = sequences.present.shape[-1]
    sequence, agent = at_row // slots, at_row % slots

    def by_row(values: Shaped[Array, "sequence time agent *each"]) -> Shaped[Array, "time row *each"]:
        return jnp.moveaxis(values[sequence, :, agent], 1, 0)

    def by_team(values: Shaped[Array, "sequence time *each"]) -> Shaped[Array, "time team *each"]:
        return jnp.moveaxis(values[at_team], 1, 0)

    real, held = at_row != NOBODY, (at_team != NOTHING)[:, None]
    present, local = by_row(sequences.present) & real, sequences.values.ndim == sequences.present.ndim
    valued = by_row if local else by_team
    return Piece(
        first_memory=sequences.first_memory[sequence, agent],
        observations=jnp.where(present[..., None], by_row(sequences.observations), 0),
        fresh=None if sequences.fresh is None else by_row(sequences.fresh),
        decisions=by_row(sequences.decisions) & real,
        actions=by_row(sequences.actions),
        log_probabilities=by_row(sequences.log_probabilities),
        advantages=by_row(sequences.advantages),
        teacher_contexts=None if sequences.teacher_contexts is None else by_row(sequences.teacher_contexts),
        teammates=None if sequences.teammates is None else by_row(sequences.teammates),
        # A place without a team counts nowhere; but a team of nobody has no mean and no attention.
        present=by_team(sequences.present) | ~held,
        played=by_team(sequences.played) & held[:, 0],
        global_states=None if sequences.global_states is None else by_team(sequences.global_states),
        value_targets=valued(sequences.value_targets),
        values=valued(sequences.values),
        allowed=None if sequences.allowed is None else by_row(sequences.allowed),
        seating=Seating(packing.seats[number], packing.places[number, :rows]),
        links=None if sequences.links is None else by_team(sequences.links),
    )
