"""Language models, and tools that are prompts."""
