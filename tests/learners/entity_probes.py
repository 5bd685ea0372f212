"""Learning by entities on a probe: narrow attention, and nothing but the probe's answers to learn.

Actions are all drawn at random and no later step counts, so that what is learned is what each is paid.
"""

from tests.learners.replayed_probes import EPISODES

SETTINGS = {
    **{"learning_rate": 5e-3, "batch_size": 32, "gradient_steps": 4, "update_every_episodes": EPISODES},
    **{"capacity": 640, "target_rate": 0.05, "discount": 0.0, "exploration_end": 1.0},
    **{"mixing_width": 8, "hypernetwork_widths": (16,), "attention_width": 8, "attention_heads": 1},
}
