"""AGENTS.md files taken apart into sources."""
