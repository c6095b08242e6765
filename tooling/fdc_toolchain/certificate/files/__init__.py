"""The part of the checker for `files`: what is there, and what is free, where a step needs it. It imports nothing of fdc."""
