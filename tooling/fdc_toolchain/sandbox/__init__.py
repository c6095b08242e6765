"""Starts commands fenced in."""
