"""The controller's real environment."""
