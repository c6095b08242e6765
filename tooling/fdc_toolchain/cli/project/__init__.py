"""Commands about workspaces."""
