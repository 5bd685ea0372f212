"""How many floating-point operations a gradient takes, counted from the networks' shapes."""

import jax

from pc3d.networks.build import Networks
from pc3d.networks.critics import JointCritic, LocalCritic, MeanCritic, TokenCritic
from pc3d.networks.layers import Dense, Mlp

FORWARD_AND_BACKWARD = 3  # a layer's backward pass is two products of the forward's size
OPERATIONS_PER_PRODUCT = 2  # a multiplication and an addition


def operations(networks: Networks, agent_steps: float, team_steps: float) -> float:
    """Of a gradient over so many steps of agents, in so many of teams: matrix products that must be computed.

    Padding and whatever else could be spared is not counted.
    """
    per_agent, per_team = _central_products(networks)
    per_agent += FORWARD_AND_BACKWARD * _products(networks.actor) - _spared(networks.actor.encoder)
    return OPERATIONS_PER_PRODUCT * (agent_steps * per_agent + team_steps * per_team)


def _central_products(networks: Networks) -> tuple[float, float]:
    """The critic's multiplications, forward and backward: per agent and moment, per team and moment."""
    critic = networks.critic
    if isinstance(critic, LocalCritic):
        return FORWARD_AND_BACKWARD * _products(critic), 0.0
    if isinstance(critic, JointCritic):
        return 0.0, FORWARD_AND_BACKWARD * _products(critic) - _spared(critic.head)
    if isinstance(critic, MeanCritic):
        encoder, attention = critic.encoder, 0.0
    else:
        assert isinstance(critic, TokenCritic)
        encoder, attention = critic.teacher.encoder, 2.0 * critic.teacher.queries.size
    per_agent = FORWARD_AND_BACKWARD * (_products(encoder) + attention) - _spared(encoder)
    return per_agent, FORWARD_AND_BACKWARD * _products(critic.head)


def _products(module: object) -> float:
    """Multiplications of one row through all dense layers of a module."""
    parts = jax.tree.leaves(module, is_leaf=lambda part: isinstance(part, Dense))
    return float(sum(part.weight.size for part in parts if isinstance(part, Dense)))


def _spared(encoder: Mlp) -> float:
    """Nothing asks for the gradient of an observation, so a first layer has one product less."""
    return float(encoder.layers[0].weight.size)
