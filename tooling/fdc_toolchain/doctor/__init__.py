"""What of this machine fdc can use."""
