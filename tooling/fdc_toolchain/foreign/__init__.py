"""Plans that other tools keep: read where they lie, checked for what can be known, with places in the original."""
