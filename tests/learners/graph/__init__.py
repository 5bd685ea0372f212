"""Agents that send each other messages."""
