"""What steps do to files."""
