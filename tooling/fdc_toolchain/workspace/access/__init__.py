"""Which files of a workspace a step may access, and how fdc opens them."""
