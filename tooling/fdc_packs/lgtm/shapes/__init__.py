"""Of the pack lgtm: the shapes of the values that a run hands from step to step, for readers and the type checker."""
