"""Plans that are created during the run that runs them."""
