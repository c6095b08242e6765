"""The tool runtime, and the core tools."""
