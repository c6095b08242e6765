"""Of the pack lgtm: command."""
