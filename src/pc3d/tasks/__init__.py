"""The games: one folder for each that comes with pc3d, and what all of them have in common."""
