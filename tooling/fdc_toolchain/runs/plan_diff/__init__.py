"""Compares two plans by meaning, using the programs that they compile to."""
