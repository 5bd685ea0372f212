"""Worlds that are Python objects: stepped on the host, in worker processes, side by side."""
