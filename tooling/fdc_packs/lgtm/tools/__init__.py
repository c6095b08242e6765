"""Of the pack lgtm: tools."""
