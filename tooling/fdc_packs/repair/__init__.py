"""Guided repair: rival hypotheses about a failing test, each with a region, a patch and a measured effect."""
