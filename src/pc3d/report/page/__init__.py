"""The web page of a report, and its replay viewer."""
