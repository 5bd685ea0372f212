"""One agent's policy as a file that needs neither JAX nor this package."""
