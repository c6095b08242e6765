"""Measurements beside other tools: `make bench` runs them and writes docs/benchmarks.md."""
