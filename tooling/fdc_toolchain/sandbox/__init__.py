"""Starts commands in a sandbox."""
