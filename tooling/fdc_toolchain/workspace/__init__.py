"""Files of a workspace, and what may touch them."""
