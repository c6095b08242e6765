"""Explore: one question, three to six independent tracks, one synthesis in which every claim is cited."""
