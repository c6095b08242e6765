"""Drawings of automata and plans."""
