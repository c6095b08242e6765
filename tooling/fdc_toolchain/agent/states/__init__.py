"""What the controller does in single states of a task."""
