"""The plan language as a grammar for constrained decoding, specialised to an automaton and a workspace."""
