"""The state of an off-policy actor–critic: what a checkpoint holds; the replay lies beside it."""

import optax
from jaxtyping import Array, Float, Int

from pc3d.learners.algorithm import Learner
from pc3d.learners.value_scale import ValueScale
from pc3d.networks.build import Networks


class ActorCriticLearner(Learner):
    """Networks, their slow copy, the optimisers, the scale of values, how long teams have played, and α."""

    networks: Networks
    slow: Networks
    """For targets, of MASAC the critics alone; the teacher in it is the averaged one, to distil from."""
    actor_adam: optax.ScaleByAdamState  # over all of the actor's parameters as one vector
    critic_adam: optax.ScaleByAdamState  # over those of all critics
    value_scale: ValueScale
    team_steps: Int[Array, ""]
    log_temperature: Float[Array, ""] | None
    """Of MASAC."""
