"""Source texts, places in them, findings and their codes."""
