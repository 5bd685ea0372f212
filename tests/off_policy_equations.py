"""Off-policy actor–critics in plain NumPy, team by team and agent by agent: slow, and independent."""

import numpy as np

from tests import paper_equations as paper


def deed_of(chosen, actions):
    """A 1 for what is done."""
    return np.array([float(number == chosen) for number in range(actions)])


def chosen_by(logits, noise=0.0):
    """The likeliest action, or with Gumbel noise one as likely as the policy says."""
    return int(np.argmax(np.asarray(logits) + noise))


def straight_through_slopes(logits, noise, softness):
    """How each number of an action moves with each logit: those of softmax((ℓ + g) / T)."""
    soft = paper.softmax((np.asarray(logits, np.float64) + noise) / softness)
    count = len(soft)
    return np.array([[soft[a] * ((a == b) - soft[b]) / softness for b in range(count)] for a in range(count)])


def padded_row(critic, observations, actions):
    """Everybody side by side: what is seen, what is done, and a 1; zeros where nobody is."""
    width = observations.shape[1] + actions.shape[1] + 1
    seen = np.zeros((critic.largest_team, width))
    for agent, (observation, action) in enumerate(zip(observations, actions, strict=True)):
        seen[agent] = [*observation, *action, 1]
    return seen.ravel()


def joint_action(critic, observations, actions, state=()):
    return paper.mlp(critic.head, np.concatenate([padded_row(critic, observations, actions), state]))[0]


def joint_alternatives(critic, observations, actions, state=()):
    found = []
    for me in range(len(observations)):
        others = np.array([action * (agent != me) for agent, action in enumerate(actions)])
        row = padded_row(critic, observations, others)
        found.append(paper.mlp(critic.head, np.concatenate([observations[me], row, state])))
    return np.array(found)


def encoded(critic, observations):
    return paper.encodings(critic.teacher, observations)


def size_of(critic, team):
    return [team / critic.largest_team] if critic.team_size_feature else []


def deeds(critic, encodings, actions):
    """u_i = ψ([e_i; a_i])."""
    return [
        paper.mlp(critic.to_deed, np.concatenate([encoding, action]), activate_output=True)
        for encoding, action in zip(encodings, actions, strict=True)
    ]


def token_action(critic, observations, actions, state=()):
    """Q = f([z_1; …; z_K; z^a_1; …; z^a_K; n]) with z^a_k = Σ_j α_kj u_j and the α of z_k."""
    encodings = encoded(critic, observations)
    queries = np.asarray(critic.teacher.queries, np.float64)
    done, read = deeds(critic, encodings, actions), []
    for query in queries:
        attention = paper.softmax(np.array([query @ each for each in encodings]) / np.sqrt(len(query)))
        read.append(sum(weight * deed for weight, deed in zip(attention, done, strict=True)))
    tokens = paper.tokens(queries, encodings)
    told = [tokens.ravel(), np.ravel(read), size_of(critic, len(observations)), state]
    return paper.mlp(critic.head, np.concatenate(told))[0]


def token_alternatives(critic, observations, actions, state=()):
    """Q_i = f([e_i; z_1; …; z_K; n; mean of u_j over j ≠ i])."""
    encodings = encoded(critic, observations)
    done, tokens = deeds(critic, encodings, actions), paper.tokens(critic.teacher.queries, encodings).ravel()
    found = []
    for me, encoding in enumerate(encodings):
        others = [deed for agent, deed in enumerate(done) if agent != me]
        mean = np.mean(others, axis=0) if others else np.zeros(len(encoding))
        told = [encoding, tokens, size_of(critic, len(observations)), state, mean]
        found.append(paper.mlp(critic.head, np.concatenate(told)))
    return np.array(found)


CRITICS = {
    "maddpg": joint_action,
    "matd3": joint_action,
    "masac": joint_alternatives,
    "pc3d-maddpg": token_action,
    "pc3d-matd3": token_action,
    "pc3d-masac": token_alternatives,
}


def entropy(logits):
    chances = paper.softmax(np.asarray(logits, np.float64))
    return -sum(chance * np.log(chance) for chance in chances)


def soft_value(logits, alternatives, temperature):
    """Σ_a π(a) (Q(a) − α log π(a))."""
    chances = paper.softmax(np.asarray(logits, np.float64))
    return sum(
        chance * (value - temperature * np.log(chance))
        for chance, value in zip(chances, alternatives, strict=True)
    )
