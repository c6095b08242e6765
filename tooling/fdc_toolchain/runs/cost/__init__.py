"""What runs cost at worst."""
