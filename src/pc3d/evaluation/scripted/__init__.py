"""Scripts that see everything: what a team could do that needs no learning and has no blind spots."""
