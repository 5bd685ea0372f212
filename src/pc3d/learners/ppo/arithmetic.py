"""How many floating-point operations a gradient takes, counted from the networks' shapes."""

from pc3d.learners.arithmetic import FORWARD_AND_BACKWARD, OPERATIONS_PER_PRODUCT, products, spared
from pc3d.networks.build import Networks
from pc3d.networks.critics import JointCritic, LocalCritic, MeanCritic, TokenCritic
from pc3d.networks.talking_actor import TalkingActor


def operations(networks: Networks, agent_steps: float, team_steps: float) -> float:
    """Of a gradient over so many steps of agents, in so many of teams: matrix products that must be computed.

    Padding and whatever else could be spared is not counted.
    """
    per_agent, per_team = _central_products(networks)
    per_agent += FORWARD_AND_BACKWARD * products(networks.actor) - spared(networks.actor.encoder)
    if isinstance(networks.actor, TalkingActor):  # the same weights in every round
        rounds = networks.actor.rounds
        per_agent += FORWARD_AND_BACKWARD * (rounds.count - 1) * products(rounds)
    return OPERATIONS_PER_PRODUCT * (agent_steps * per_agent + team_steps * per_team)


def _central_products(networks: Networks) -> tuple[float, float]:
    """The critic's multiplications, forward and backward: per agent and moment, per team and moment."""
    critic = networks.critic
    if isinstance(critic, LocalCritic):
        return FORWARD_AND_BACKWARD * products(critic), 0.0
    if isinstance(critic, JointCritic):
        return 0.0, FORWARD_AND_BACKWARD * products(critic) - spared(critic.head)
    if isinstance(critic, MeanCritic):
        encoder, attention = critic.encoder, 0.0
    else:
        assert isinstance(critic, TokenCritic)
        encoder, attention = critic.teacher.encoder, 2.0 * critic.teacher.queries.size
    per_agent = FORWARD_AND_BACKWARD * (products(encoder) + attention) - spared(encoder)
    return per_agent, FORWARD_AND_BACKWARD * products(critic.head)
