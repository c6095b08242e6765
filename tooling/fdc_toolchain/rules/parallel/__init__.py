"""What the branches of a fork do to each other, beside files."""
