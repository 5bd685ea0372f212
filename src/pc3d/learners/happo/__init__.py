"""HAPPO: an update's epochs in turns, each with advantages that know what the other agents have become."""
