"""CTDS: a teacher that learns the values of actions with its whole team in view, and a student of them."""
