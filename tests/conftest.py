"""All tests run as every run does: pinned to one thread, before JAX is imported."""

from pc3d import threads

threads.pin()
