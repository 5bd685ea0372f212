"""Every table of a report."""
