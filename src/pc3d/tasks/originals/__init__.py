"""The original packages behind the same words as the ports; needs the extra `originals`."""
