"""Value factorisation: utilities of agents, mixed into a team's value, learned from a replay."""
