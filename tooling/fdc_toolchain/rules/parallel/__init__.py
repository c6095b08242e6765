"""Conflicts between branches of a fork, other than files."""
