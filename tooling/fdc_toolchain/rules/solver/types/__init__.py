"""The types of values in a plan: what each name may hold, and the uses that no value of its type survives."""
