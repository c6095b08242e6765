"""The master controller."""
