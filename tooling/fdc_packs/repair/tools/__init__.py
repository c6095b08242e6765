"""Of the pack repair: tools."""
