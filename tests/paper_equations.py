"""The paper's equations in plain NumPy, agent by agent and step by step: slow, and independent."""

import numpy as np


def softmax(scores):
    weights = np.exp(scores - np.max(scores))
    return weights / weights.sum()


def sigmoid(value):
    return 1 / (1 + np.exp(-value))


def dense(layer, value):
    return value @ np.asarray(layer.weight, np.float64) + np.asarray(layer.bias, np.float64)


def mlp(network, value, *, activate_output=False):
    for index, layer in enumerate(network.layers):
        value = dense(layer, value)
        if index < len(network.layers) - 1 or activate_output:
            value = np.maximum(value, 0)
    return value


def gru(unit, memory, value):
    width = len(memory)
    from_input, from_memory = dense(unit.from_input, value), dense(unit.from_memory, memory)
    reset = sigmoid(from_input[:width] + from_memory[:width])
    keep = sigmoid(from_input[width : 2 * width] + from_memory[width : 2 * width])
    candidate = np.tanh(from_input[2 * width :] + reset * from_memory[2 * width :])
    return (1 - keep) * candidate + keep * memory


def encodings(holder, observations):
    """e_i = φ(o_i), of zero mean and unit deviation where that is set (1e-5 keeps a constant one finite)."""
    found = np.array([mlp(holder.encoder, each) for each in observations])
    if not holder.normalise:
        return found
    apart = found - found.mean(axis=-1, keepdims=True)
    return apart / np.sqrt(found.var(axis=-1, keepdims=True) + 1e-5)


def tokens(queries, encodings):
    """z_k = Σ_j softmax_j(q_k · e_j / √d) e_j."""
    found = []
    for query in np.asarray(queries, np.float64):
        attention = softmax(np.array([query @ encoding for encoding in encodings]) / np.sqrt(len(query)))
        found.append(sum(weight * encoding for weight, encoding in zip(attention, encodings, strict=True)))
    return np.array(found)


def teacher_context(encoding, coordination_tokens):
    """c_i = Σ_k softmax_k(e_i · z_k / √d) z_k."""
    scores = np.array([encoding @ token for token in coordination_tokens]) / np.sqrt(len(encoding))
    return sum(weight * token for weight, token in zip(softmax(scores), coordination_tokens, strict=True))


def student(conditioning, features, reliance_min, reliance_max, gate_scale, gate_offset):
    """ĉ = W_c h + b_c; ρ = clip(w_u h + b_u); g = σ(a_g ρ + b_g)."""
    context = dense(conditioning.student.to_context, features)
    wish = dense(conditioning.student.to_reliance, features)[0]
    reliance = min(max(wish, reliance_min), reliance_max)
    return context, sigmoid(gate_scale * reliance + gate_offset)


def film_logits(conditioning, features, context, gate):
    """h̃ = h ⊙ (1 + g γ) + g β, then the policy head."""
    modulation = dense(conditioning.to_modulation, context)
    scale, shift = modulation[: len(features)], modulation[len(features) :]
    return dense(conditioning.head, features * (1 + gate * scale) + gate * shift)


def said_by_actor(actor, observations):
    """What one agent says of its actions, moment by moment, and its contexts; plain or with FiLM."""
    head, memory, said, contexts = actor.conditioning, np.zeros(actor.memory.width), [], []
    for seen in np.asarray(observations, np.float64):
        memory = gru(actor.memory, memory, mlp(actor.encoder, seen, activate_output=True))
        if not hasattr(head, "student"):
            said.append(dense(head.head, memory))
            continue
        part = head.student
        reach, line = (
            (part.reliance_min, part.reliance_max),
            (float(part.gate_scale), float(part.gate_offset)),
        )
        context, gate = student(head, memory, *reach, *line)
        said.append(film_logits(head, memory, context, gate))
        contexts.append(context)
    return np.array(said), np.array(contexts)


def hyper_logits(conditioning, features, context, gate):
    """ℓ = h (W_0 + g ΔW) + (b_0 + g Δb)."""
    base = np.asarray(conditioning.head.weight, np.float64)
    flat = mlp(conditioning.hypernetwork, context)
    change = flat.reshape(len(features) + 1, base.shape[1])
    weight = base + gate * change[:-1]
    return features @ weight + np.asarray(conditioning.head.bias, np.float64) + gate * change[-1]


def huber(error, delta, reduction="mean"):
    parts = [0.5 * e * e if abs(e) <= delta else delta * (abs(e) - 0.5 * delta) for e in error]
    return sum(parts) / {"mean": len(parts), "root": np.sqrt(len(parts)), "sum": 1}[reduction]


def advantages(rewards, values, discount, gae_lambda, last_is_end):
    """A_t = Σ_l (γλ)^l δ_{t+l}, by the definition's double sum."""
    steps = len(rewards)
    errors = []
    for t in range(steps):
        later = 0 if last_is_end and t == steps - 1 else values[t + 1]
        errors.append(rewards[t] + discount * later - values[t])
    weights = discount * gae_lambda
    return np.array([sum(weights ** (u - t) * errors[u] for u in range(t, steps)) for t in range(steps)])


def clipped_objective(ratio, advantage, clip):
    bounded = min(max(ratio, 1 - clip), 1 + clip)
    return min(ratio * advantage, bounded * advantage)
