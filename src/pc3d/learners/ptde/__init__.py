"""PTDE: a teacher that learns with personal information of its team, then a student of that information."""
