"""Of the pack alphabet: iteration."""
