"""Automata: read, checked and normalised."""
