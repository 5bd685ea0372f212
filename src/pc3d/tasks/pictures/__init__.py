"""Every task drawn to an RGB array, without a display."""
