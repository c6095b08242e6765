"""The statement that was forgotten where `pass` stands, made of what its place lacks and has in vain."""
