"""Packs: reasoning systems beside the core. Each is one folder with a `pack.toml`; the core reads that and names no pack."""
