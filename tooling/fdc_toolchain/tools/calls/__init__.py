"""Tools for lists, and for calls that a model requests."""
