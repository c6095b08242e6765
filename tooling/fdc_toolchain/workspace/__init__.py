"""Files of a workspace, and access to them."""
