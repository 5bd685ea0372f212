"""The same work done by other people's learners, in turns with ours."""
