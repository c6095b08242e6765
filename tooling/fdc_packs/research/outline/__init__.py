"""Of the pack research: outline."""
