"""Makes certificates. Nothing here is trusted."""
