"""Teams that change while they play: twins of the same episodes, and how a team recovers."""
