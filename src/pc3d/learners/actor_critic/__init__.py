"""Off-policy actor–critics: MADDPG, MATD3 and MASAC, for a choice of actions and teams of any size."""
