"""Lessons of post-mortems."""
