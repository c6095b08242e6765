"""Of the pack repair: patch."""
