"""The pack `look`: a model looks for an answer by itself, as a plan. It has no code."""
