"""What was forgotten, made of what the file has elsewhere."""
