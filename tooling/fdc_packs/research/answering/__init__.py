"""The engine of `fdc explore` and of `fdc research --code`: places that answer a question, or that there are none."""
