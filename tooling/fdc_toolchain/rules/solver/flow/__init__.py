"""Information flow: which text can reach which step."""
