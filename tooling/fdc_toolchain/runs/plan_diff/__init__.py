"""What changed between two plans, by meaning: compared are the programs that they compile to."""
