"""Syntax errors of languages other than Python: what their parsers say, and the small edits after which they read a file."""
