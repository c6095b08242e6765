"""Of the pack alphabet: command."""
