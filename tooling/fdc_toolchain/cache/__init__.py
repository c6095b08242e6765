"""Verdicts kept under the content that they were found in."""
