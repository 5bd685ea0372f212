"""The next reference: it learns what the policy does on average, over what it cannot see of teammates."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pc3d.experiment.experiment import Experiment
from pc3d.learners.experience import Counts, decisions_of, said_by, seen_in, sum_of
from pc3d.learners.mipi.imagined_teams import Imagined
from pc3d.learners.mipi.settings import mipi_of
from pc3d.learners.optimiser import learning_rate
from pc3d.learners.pieces import added_up, grouped, pieces_of
from pc3d.learners.q_learning.soft_policy import Reference, SoftPolicy
from pc3d.learners.students import Student, descended
from pc3d.networks.actor import Actor
from pc3d.play.choosing import only_allowed
from pc3d.tasks.split import Split
from pc3d.tasks.task import Game

Loss = Float[Array, ""]


def fitted(
    experiment: Experiment,
    task: Game,
    student: Student,
    policy: tuple[Actor, Reference],
    drawn: Imagined,
    update: Array,
) -> tuple[Student, Loss, Float[Array, " step"]]:
    """After as many gradient steps as values took, on the same minibatches; the mean of losses, and norms."""
    settings, split = mipi_of(experiment), task.split
    assert split is not None, "checked before anything was trained"
    rate = learning_rate(experiment, settings.reference_learning_rate, update)
    gradient_of = partial(minibatch_gradient, policy=policy, split=split, roster_changes=task.roster_changes)
    steps = grouped(drawn, settings.gradient_steps)
    learned, losses, norms = descended(
        experiment, student, gradient_of, steps, rate, settings.max_gradient_norm
    )
    return learned, jnp.mean(losses), norms


def minibatch_gradient(
    reference: Actor, batch: Imagined, *, policy: tuple[Actor, Reference], split: Split, roster_changes: bool
) -> tuple[Actor, Loss]:
    """Of the mean cross-entropy over all who decided, added up over pieces; and the loss."""
    counts = Counts.of(batch.episodes)

    def of_piece(piece: Imagined) -> tuple[Actor, Loss]:
        wanted = policy_in(piece, policy, split, roster_changes=roster_changes).chances

        def loss(reference: Actor) -> tuple[Loss, Loss]:
            apart = cross_entropy(reference, piece, wanted, split, roster_changes=roster_changes)
            found = sum_of(apart[:, :-1], decisions_of(piece.episodes)) / counts.decisions
            return found, found

        return jax.grad(loss, has_aux=True)(reference)

    return added_up(of_piece, batch, pieces_of(*batch.episodes.present.shape))


def policy_in(
    piece: Imagined, policy: tuple[Actor, Reference], split: Split, *, roster_changes: bool
) -> SoftPolicy:
    """What agents do in their imaginary teams: a constant for the gradient."""
    (utilities, reference), episodes = policy, piece.episodes
    views = split.with_only(seen_in(episodes), piece.kept[:, None])
    worth = said_by(utilities, episodes, views, roster_changes=roster_changes).logits
    return jax.lax.stop_gradient(reference.policy(episodes, views, worth, roster_changes=roster_changes))


def cross_entropy(
    reference: Actor,
    piece: Imagined,
    wanted: Float[Array, "episode moment agent action"],
    split: Split,
    *,
    roster_changes: bool,
) -> Float[Array, "episode moment agent"]:
    """−Σ_a π(a) log p(a | s⁺): least, over whatever s⁻ may be, where p is the mean of π."""
    episodes = piece.episodes
    said = said_by(reference, episodes, split.own(seen_in(episodes)), roster_changes=roster_changes).logits
    allowed = None if episodes.allowed is None else jnp.asarray(episodes.allowed)
    return -jnp.sum(wanted * jax.nn.log_softmax(only_allowed(said, allowed)), axis=-1)
