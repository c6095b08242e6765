"""Of the pack alphabet: what comes from elsewhere."""
