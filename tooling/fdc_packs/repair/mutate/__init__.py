"""Of the pack repair: mutate."""
