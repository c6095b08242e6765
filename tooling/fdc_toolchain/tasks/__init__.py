"""Tasks: the activity log, and how they begin and end."""
