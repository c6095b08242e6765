"""Tools whose code runs in a process of its own: commands, and what functions of a workspace say to fdc meanwhile."""
