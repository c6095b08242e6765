"""What a script is worth once `args` is given."""
