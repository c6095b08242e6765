"""`fdc hook`: what an agent's program asks before it lets the agent do something."""
