"""fdc: compiler, verifier and runner for the plans that AI agents write."""
