"""Rules of protocols, proved over all runs."""
