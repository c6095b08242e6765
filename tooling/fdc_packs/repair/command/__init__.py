"""Of the pack repair: command."""
