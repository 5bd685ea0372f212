"""The field of level-based foraging: how large it is, and how far agents see on it."""

SIDE = 10
SIGHT = 2
