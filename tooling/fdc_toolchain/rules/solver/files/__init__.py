"""The effects of steps on files."""
