"""What Python itself has: the members of its types and modules."""
