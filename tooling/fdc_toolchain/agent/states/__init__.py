"""Handlers for states of a task."""
