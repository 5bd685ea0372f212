"""SOG: REFIL whose agents gather around conductors now and then, and hear what their group has to say."""
