"""What `fdc lint` does: known verdicts first, then judging, repairing, reporting."""
