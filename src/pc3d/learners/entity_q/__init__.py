"""Value factorisation entity by entity, and with groups of entities that are imagined."""
