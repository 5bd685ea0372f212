"""From whole episodes to sequences short enough to backpropagate through, and to minibatches of them."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Num, PRNGKeyArray, Shaped

from pc3d.experiment.experiment import Experiment
from pc3d.learners.ppo.settings import ppo_of

NOTHING = -1


class Sequences(eqx.Module):
    """Stretches of episodes, ready for gradients: at most `backpropagation_steps` long."""

    first_memory: Float[Array, "sequence agent h"]
    observations: Float[Array, "sequence time agent observation"]
    global_states: Float[Array, "sequence time state"] | None
    present: Bool[Array, "sequence time agent"]
    """After an episode's end, too: a team of nobody has no mean and no attention."""
    fresh: Bool[Array, "sequence time agent"] | None
    """Who has just joined and remembers nothing; None where rosters stay as they are."""
    played: Bool[Array, "sequence time"]  # false after an episode's end
    actions: Num[Array, "sequence time agent *number"]
    log_probabilities: Float[Array, "sequence time agent"]
    advantages: Float[Array, "sequence time agent"]
    value_targets: Float[Array, "sequence time *agent"]
    values: Float[Array, "sequence time *agent"]  # before the update
    teacher_contexts: Float[Array, "sequence time agent context"] | None
    teammates: Float[Array, "sequence time agent context"] | None
    """The mean direction of the teammates' contexts."""
    allowed: Bool[Array, "sequence time agent action"] | None
    """Who may take which action; None where there are no masks."""
    links: Bool[Array, "sequence time agent agent"] | None = None
    """Who heard whom; None where nobody says anything."""
    learning: Bool[Array, "sequence agent"] | None = None
    """Whose turn it is to learn; None where all learn at once."""

    @property
    def decisions(self) -> Bool[Array, "sequence time agent"]:
        """The valid agent-time pairs: somebody was there, had to act, and learns from it."""
        made = self.present & self.played[:, :, None]
        return made if self.learning is None else made & self.learning[:, None]


@dataclass(frozen=True)
class SequencePlan:
    """How an update's episodes are cut and grouped; known before anything is played.

    All minibatches of an epoch have the same number of sequences.
    """

    episodes: int
    horizon: int
    pieces: int  # sequences per episode
    length: int  # steps per sequence
    minibatches: int
    sequences_per_minibatch: int

    @staticmethod
    def make(experiment: Experiment, episodes: int, horizon: int) -> "SequencePlan":
        """For so many episodes. The unit of the paper's batch size is not stated, so it is a setting."""
        pieces = -(-horizon // experiment.recipe.backpropagation_steps)
        length, sequences = -(-horizon // pieces), episodes * pieces
        capacity = ppo_of(experiment).batch_size
        if experiment.recipe.batch_unit == "team_steps":
            capacity = max(1, capacity // length)
        minibatches = -(-sequences // capacity)
        return SequencePlan(episodes, horizon, pieces, length, minibatches, -(-sequences // minibatches))

    @property
    def sequences(self) -> int:
        """With the fillers that make all minibatches alike."""
        return self.minibatches * self.sequences_per_minibatch

    def cut(self, by_time: Shaped[Array, "episode time ..."]) -> Shaped[Array, "sequence length ..."]:
        """Cut the time axis into equal pieces; zeros (never played) fill what is missing."""
        missing = self.pieces * self.length - self.horizon
        padded = jnp.pad(by_time, [(0, 0), (0, missing)] + [(0, 0)] * (by_time.ndim - 2))
        return padded.reshape(self.episodes * self.pieces, self.length, *by_time.shape[2:])

    def cut_presence(
        self, present: Bool[Array, "episode time agent"]
    ) -> Bool[Array, "sequence length agent"]:
        """The same for who is there; what is missing is filled with whoever was there last."""
        missing = self.pieces * self.length - self.horizon
        padded = jnp.pad(present, [(0, 0), (0, missing), (0, 0)], mode="edge")
        return padded.reshape(self.episodes * self.pieces, self.length, present.shape[-1])

    def first_memories(
        self, features: Float[Array, "episode time agent h"] | None, nothing: Float[Array, "agent h"]
    ) -> Float[Array, "sequence agent h"]:
        """What each sequence starts from: nothing, or what the actor remembered one step before."""
        starts = jnp.broadcast_to(nothing, (self.episodes, 1, *nothing.shape))
        if self.pieces > 1:
            assert features is not None
            last_steps = [piece * self.length - 1 for piece in range(1, self.pieces)]
            starts = jnp.concatenate([starts, features[:, jnp.asarray(last_steps)]], axis=1)
        return starts.reshape(self.episodes * self.pieces, *nothing.shape)

    def shuffled(self, key: PRNGKeyArray) -> Int[Array, "minibatch sequence"]:
        """One epoch's minibatches, in random order and company: numbers of sequences, NOTHING for fillers."""
        order = jax.random.permutation(key, self.episodes * self.pieces)
        missing = self.sequences - self.episodes * self.pieces
        filled = jnp.pad(order, (0, missing), constant_values=NOTHING)
        return filled.reshape(self.minibatches, self.sequences_per_minibatch)
