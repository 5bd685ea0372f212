"""Runs: the training loop, what it leaves in a folder, and policies read back from there."""
