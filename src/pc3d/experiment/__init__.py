"""What a run is: team sizes, methods and every setting, as frozen data. Nothing here needs JAX."""
