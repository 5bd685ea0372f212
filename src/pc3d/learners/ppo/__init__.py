"""From played episodes to better networks: advantages, losses, and the update."""
