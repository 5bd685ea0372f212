"""The proof itself: from each recorded state of the original, the port must arrive where the original did.

Every step starts from the original's own state, so errors cannot add up, and is replayed in both precisions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.parity.case import Opponent, ParityCase
from pc3d.tasks.parity.record import Step, recorded_steps, start_name
from pc3d.tasks.task import AnyTask

KINDS = ("state", "observation", "reward", "measures", "end")
PRECISIONS = ("float64", "float32")
CHUNK_STEPS = 4096  # replayed in one call: enough to be fast, few enough to fit in memory

Tree = Any


class Verdicts(eqx.Module):
    """For each replayed step, whether it counts, and how far port and original are apart by kind."""

    counts: Bool[Array, " *step"]
    errors: dict[str, Float[Array, " *step"]]


@dataclass
class Tally:
    """What came of comparing one team size with one version of the original."""

    opponent: str
    team_size: int
    steps: int = 0
    # Steps that need not agree (the case says which), by precision.
    left_out: Counter[str] = field(default_factory=Counter)
    mismatches: Counter[str] = field(default_factory=Counter)
    largest_error: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PRECISIONS, 0.0))
    first_mismatch: str | None = None


def compare(
    case: ParityCase,
    opponent: Opponent,
    team_size: int,
    episodes: int,
    seed: int,
    after_episode: Callable[[], None] = lambda: None,
) -> Tally:
    """Play the original for that many episodes, and have the port repeat each of the steps."""
    task = case.task.with_slots(team_size)
    replay = jax.jit(jax.vmap(partial(_verdict, opponent, task)))
    chunk = min(CHUNK_STEPS, episodes * task.horizon)
    tally = Tally(opponent.label, team_size)
    # Sums over more agents than the task is meant for are larger, and so are their roundings.
    more = max(1.0, team_size / task.largest_team)
    recorded = recorded_steps(case, opponent, team_size, episodes, seed, after_episode)
    for steps in _chunks(recorded, chunk):
        tally.steps += len(steps)
        stacked = _stacked(steps, chunk)
        for precision, tolerance in zip(PRECISIONS, case.tolerance, strict=True):
            with jax.enable_x64(precision == "float64"):
                verdicts = replay(_in_precision(stacked, precision))
            wrong = _count(tally, _first(verdicts, len(steps)), precision, more * tolerance)
            if wrong is not None and tally.first_mismatch is None:
                index, kind = wrong
                tally.first_mismatch = _described(case, task, steps[index], kind, precision, seed)
    return tally


def sides(task: AnyTask, step: Step) -> dict[str, tuple[Tree, Tree]]:
    """What the port makes of the step and what the original made of it, by kind."""
    state, outcome = task.step(jax.random.wrap_key_data(step.key), step.state, step.actions)
    original = step.outcome
    return {
        "state": (state, step.next_state),
        "observation": (
            {"before": task.observe(step.state), "after": task.observe(step.next_state)},
            {"before": step.view, "after": step.next_view},
        ),
        "reward": (outcome.reward, original.reward),
        "measures": (outcome.measures, original.measures),
        "end": (
            {"terminated": outcome.terminated, "truncated": outcome.truncated},
            {"terminated": original.terminated, "truncated": original.truncated},
        ),
    }


def _verdict(opponent: Opponent, task: AnyTask, step: Step) -> Verdicts:
    counts = jnp.asarray(True)
    if opponent.compared is not None:
        counts = opponent.compared(task, step.state, step.actions)
    errors = {kind: _largest_error(*both) for kind, both in sides(task, step).items()}
    return Verdicts(counts, errors)


def _largest_error(port: Tree, original: Tree) -> Float[Array, ""]:
    """Over all numbers of two trees of the same structure."""
    errors = [jnp.max(error, initial=0) for error in jax.tree.leaves(jax.tree.map(_errors, port, original))]
    return jnp.max(jnp.stack(errors))


def _errors(port: Array, original: Array) -> Float[Array, "..."]:
    if port.shape != original.shape:
        raise AssertionError(f"the port's array has shape {port.shape}, the original's {original.shape}")
    if port.dtype == jnp.float64 and original.dtype == jnp.float32:
        # mpe2 shows less than it computes with. (XLA would drop a cast to float32 and back.)
        port = jax.lax.reduce_precision(port, exponent_bits=8, mantissa_bits=23)
    return jnp.abs(port.astype(float) - original.astype(float))


def _chunks(steps: Iterable[Step], size: int) -> Iterator[list[Step]]:
    steps = iter(steps)
    while chunk := list(islice(steps, size)):
        yield chunk


def _stacked(steps: list[Step], length: int) -> Step:
    """The steps as one record, filled up with the last one so that the port is compiled once only."""
    filled = steps + [steps[-1]] * (length - len(steps))
    return jax.tree.map(lambda *values: np.stack(values), *filled)


def _first(verdicts: Verdicts, count: int) -> Verdicts:
    """Without the steps that only filled up the chunk."""
    return jax.tree.map(lambda values: np.asarray(values[:count]), verdicts)


def _in_precision(step: Step, precision: str) -> Step:
    """The record with its float64 numbers rounded to the precision; coarser ones stay as they are."""

    def rounded(values: AnyArray) -> AnyArray:
        return values.astype(precision) if values.dtype == np.float64 else values

    return jax.tree.map(rounded, step)


def _count(tally: Tally, verdicts: Verdicts, precision: str, tolerance: float) -> tuple[int, str] | None:
    """Add a chunk to the tally; returns the first step that is wrong, and in what."""
    tally.left_out[precision] += int(np.sum(~verdicts.counts))
    first: tuple[int, str] | None = None
    for kind in KINDS:
        errors = np.nan_to_num(verdicts.errors[kind], nan=np.inf)[verdicts.counts]
        wrong = np.flatnonzero(verdicts.counts)[errors > tolerance]
        tally.mismatches[kind] += len(wrong)
        tally.largest_error[precision] = max(tally.largest_error[precision], float(errors.max(initial=0)))
        if len(wrong) and (first is None or wrong[0] < first[0]):
            first = int(wrong[0]), kind
    return first


def _described(case: ParityCase, task: AnyTask, step: Step, kind: str, precision: str, seed: int) -> str:
    """In words: where the first mismatch is, and the two values there."""
    with jax.enable_x64(precision == "float64"):
        record = jax.tree.map(jnp.asarray, _in_precision(step, precision))
        port, original = sides(task, record)[kind]
        trees = port, original, jax.tree.map(_errors, port, original)
    port, original, errors = jax.device_get(trees)
    leaves = jax.tree_util.tree_leaves_with_path(errors)
    worst = int(np.argmax([np.max(error, initial=0) for _, error in leaves]))
    path, error = leaves[worst]
    port_values, original_values = jax.tree.leaves(port)[worst], jax.tree.leaves(original)[worst]
    place = tuple(int(index) for index in np.unravel_index(np.argmax(error), error.shape))
    episode = int(step.episode)
    return (
        f"team of {task.slots}, seed {seed}, episode {episode} (from {start_name(case, episode)}), "
        f"step {int(step.state.time)}, {precision}: {kind} {jax.tree_util.keystr(path, simple=True)}"
        f"{list(place)} is {port_values[place]} in the port and {original_values[place]} in the original"
    )
