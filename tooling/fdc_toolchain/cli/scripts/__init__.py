"""The scripts that the seeds name."""
