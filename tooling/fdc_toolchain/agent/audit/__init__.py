"""The audit of a workspace."""
