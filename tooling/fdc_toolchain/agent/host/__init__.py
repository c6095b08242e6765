"""The controller's real world."""
