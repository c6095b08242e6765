"""`fdc ui`: the local web page over all runs."""
