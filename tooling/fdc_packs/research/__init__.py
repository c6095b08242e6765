"""Deep research: what its tools decide without touching anything. Pure functions over JSON values."""
