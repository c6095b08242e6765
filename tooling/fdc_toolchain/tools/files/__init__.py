"""Tools that read, write and find files."""
