"""The analyses that lint rules ask."""
