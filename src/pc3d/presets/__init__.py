"""Settings as files: what a preset holds, and changes of an experiment by their names."""
