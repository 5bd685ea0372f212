"""How many floating-point operations a gradient of Q-learning takes, counted from the networks' shapes."""

from pc3d.learners.arithmetic import FORWARD_AND_BACKWARD, OPERATIONS_PER_PRODUCT, products, spared
from pc3d.networks.build import Networks
from pc3d.networks.mixers import JointMixer, MeanMixer, MonotoneMixer, TokenMixer

WITH_TARGETS = FORWARD_AND_BACKWARD + 1  # the slow copy is asked once, forward


def operations(networks: Networks, agent_steps: float, team_steps: float) -> float:
    """Of gradients over so many steps of agents, in so many of teams: matrix products that must be computed.

    Padding, burning in and whatever else could be spared is not counted.
    """
    per_agent, per_team = _central_products(networks)
    per_agent += WITH_TARGETS * products(networks.actor) - spared(networks.actor.encoder)
    return OPERATIONS_PER_PRODUCT * (agent_steps * per_agent + team_steps * per_team)


def _central_products(networks: Networks) -> tuple[float, float]:
    """The mixer's multiplications: per agent and moment, per team and moment."""
    mixer = networks.critic
    if not isinstance(mixer, MonotoneMixer):
        return 0.0, 0.0
    of_team = products((mixer.to_offset, mixer.to_weights, mixer.to_value))
    if isinstance(mixer, JointMixer):
        return 0.0, WITH_TARGETS * (of_team + products(mixer.to_rows))
    if isinstance(mixer, MeanMixer):
        encoder, attention = mixer.encoder, 0.0
    else:
        assert isinstance(mixer, TokenMixer)
        encoder, attention = mixer.teacher.encoder, 2.0 * mixer.teacher.queries.size
    of_agent = products(encoder) + products(mixer.to_rows) + attention
    return WITH_TARGETS * of_agent - spared(encoder), WITH_TARGETS * of_team
