"""What a workspace is: its root, settings, files, and what is protected in it."""
