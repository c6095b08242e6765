"""What is kept of runs."""
