"""`fdc lint`: reads the cache, checks plans, applies fixes, reports."""
