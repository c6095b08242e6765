"""Values of secrets: where they are found, and how they are taken out of texts."""
