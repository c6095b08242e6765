"""Of the pack research: retrieval."""
