"""Tools that a plan has for lists, and for calls that a model asks for."""
