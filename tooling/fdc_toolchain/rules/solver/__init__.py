"""The analyses that lint rules use."""
