"""The arguments of steps: bound to the parameters of their tools."""
