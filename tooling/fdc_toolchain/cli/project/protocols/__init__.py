"""`fdc protocols`."""
