"""Rules about the paths of called plans, as their calls give them."""
