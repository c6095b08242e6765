"""The part of the checker for `files`: each path exists, or is free, as a step needs it. It imports nothing of fdc."""
