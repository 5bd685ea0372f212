"""Proof that the ports are the original games: both play the same actions from the same states."""
