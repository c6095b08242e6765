"""What the tools of the pack do."""
