"""The run service."""
