"""Protocols compared and drawn."""
