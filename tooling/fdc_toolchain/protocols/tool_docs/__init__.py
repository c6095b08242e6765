"""Documentation of tools in protocols."""
