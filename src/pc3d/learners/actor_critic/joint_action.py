"""MADDPG and MATD3: what all agents do together has one value, and its slope teaches everybody's actor."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pc3d.experiment.actor_critic_settings import MaddpgSettings
from pc3d.experiment.experiment import Experiment
from pc3d.learners.actor_critic.objective import Logits, Objective
from pc3d.learners.actor_critic.sampling import best, sampled, straight_through
from pc3d.learners.actor_critic.scene import NEXT, NOW, Scene
from pc3d.learners.experience import said_by
from pc3d.learners.targets import targets_of
from pc3d.networks.action_critics import each_of
from pc3d.networks.critics import Critic


class JointAction(Objective):
    """Q(o, a) of the team."""

    def values(self, critic: Critic, scene: Scene) -> Float[Array, "episode time"]:
        return critic(scene.view(NOW, scene.taken))

    def targets(self, experiment: Experiment, scene: Scene, logits: Logits) -> Float[Array, "episode time"]:
        """y = r + γ min Q⁻(o', a'), where a' is the slow actor's: its likeliest, or (smoothed) a draw."""
        del logits
        given, settings = scene.given, experiment.algorithm
        assert isinstance(settings, MaddpgSettings)
        said = said_by(
            given.slow.actor, scene.episodes, scene.seen, roster_changes=given.roster_changes
        ).logits[:, NEXT]
        actions = best(said) if settings.target_actions == "best" else sampled(said, scene.noise[:, NEXT])
        values = given.slow.critic(scene.view(NEXT, actions))
        return targets_of(experiment, scene.episodes, given.scale.stretch(values))

    def policy_loss(
        self, experiment: Experiment, critic: Critic, scene: Scene, logits: Logits
    ) -> Float[Array, ""]:
        """− Q(o, a) of actions with a slope, all agents' at once, and a little against logits that grow.

        One value for all has for its slope the sum of what it would be for each agent, with the others held.
        """
        settings, now = experiment.algorithm, logits[:, NOW]
        assert isinstance(settings, MaddpgSettings)
        actions = straight_through(now, scene.noise[:, NOW], settings.softness)
        value = each_of(critic)[0](scene.view(NOW, actions))
        large = scene.mean_over_agents(jnp.mean(now**2, axis=-1))
        return settings.logit_penalty * large - scene.mean_over_steps(value)

    def mean(self, scene: Scene, values: Float[Array, "episode time"]) -> Float[Array, ""]:
        return scene.mean_over_steps(values)
