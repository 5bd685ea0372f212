"""Learners: what turns experience into policies, behind one interface."""
