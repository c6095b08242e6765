"""Of the pack alphabet: drawing."""
