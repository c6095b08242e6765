"""A pack for fdc: minutes of meetings."""
