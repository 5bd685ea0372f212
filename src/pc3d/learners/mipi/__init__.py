"""MIPI-style: Q-learning in which acting on what is seen of teammates has a price."""
