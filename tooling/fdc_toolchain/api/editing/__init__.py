"""What editors need of plans that change under their hands."""
