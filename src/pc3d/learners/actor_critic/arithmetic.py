"""How many floating-point operations an actor–critic's gradient takes, counted from the networks' shapes."""

from pc3d.experiment.actor_critic_settings import ActorCriticSettings, MasacSettings
from pc3d.learners.arithmetic import FORWARD_AND_BACKWARD, OPERATIONS_PER_PRODUCT, products
from pc3d.networks.action_critics import JointActionCritic, TokenActionCritic, TokenActions, each_of
from pc3d.networks.build import Networks
from pc3d.networks.critics import Critic

WITH_TARGETS = FORWARD_AND_BACKWARD + 1  # the slow copy is asked once, forward
TO_ACTIONS = 2  # products of a critic that an actor learns from: forward, and back to what agents do


def operations(
    settings: ActorCriticSettings, networks: Networks, agent_steps: float, team_steps: float
) -> float:
    """Of gradients over so many steps of agents, in so many of teams: matrix products that must be computed.

    Padding, burning in and whatever else could be spared is not counted.
    """
    actor, critics = products(networks.actor), each_of(networks.critic)
    per_agent, per_team = _central_products(critics[0])
    share = 1 / settings.actor_every
    of_actor = (1 + share * FORWARD_AND_BACKWARD) * actor
    of_critic = len(critics) * WITH_TARGETS + share * TO_ACTIONS
    if isinstance(settings, MasacSettings):  # its targets ask the actor that is asked anyway
        of_actor, of_critic = FORWARD_AND_BACKWARD * actor, len(critics) * (WITH_TARGETS + 1.0)
    every = agent_steps * (of_actor + of_critic * per_agent) + team_steps * of_critic * per_team
    return OPERATIONS_PER_PRODUCT * every


def _central_products(critic: Critic) -> tuple[float, float]:
    """One critic's multiplications, forward: per agent and moment, per team and moment."""
    if isinstance(critic, JointActionCritic):
        return 0.0, products(critic)
    if not isinstance(critic, TokenActions):
        return products(critic), 0.0
    of_team = products(critic.head) if isinstance(critic, TokenActionCritic) else 0.0
    return products(critic) - of_team + 2.0 * critic.teacher.queries.size, of_team
