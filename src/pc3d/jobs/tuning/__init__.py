"""Searching for settings: many trials, scored on training and validation sizes, ending in a preset file."""
