"""Trackers of experiments: watchers that pass a run's numbers on to somebody else's tools."""
