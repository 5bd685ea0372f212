"""Play: teams, worlds wherever they are stepped, and the one loop that brings them together."""
