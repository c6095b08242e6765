"""Which edits come first: what each is worth, and the lines that it changes."""
