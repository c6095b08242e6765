"""Certificates: what is claimed of a program, and the checker that needs nothing else of fdc."""
