"""`fdc draft`: a plan for a task, by a model that a grammar holds where its server can, or as a skeleton without one."""
