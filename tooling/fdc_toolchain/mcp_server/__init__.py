"""fdc as tools of an agent that speaks the Model Context Protocol: what `fdc mcp` serves. Imports `api` only."""
