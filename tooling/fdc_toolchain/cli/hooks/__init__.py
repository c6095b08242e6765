"""`fdc hook`: hooks that an agent's program calls before it lets the agent act."""
