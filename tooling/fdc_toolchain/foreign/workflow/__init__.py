"""Workflow scripts, as Claude Code and its imitators run them: how many agents a script can start."""
