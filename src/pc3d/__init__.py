"""Open-team cooperation."""
