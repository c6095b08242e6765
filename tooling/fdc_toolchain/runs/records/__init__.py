"""The records of runs."""
