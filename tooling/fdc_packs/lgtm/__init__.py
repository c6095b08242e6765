"""The pure half of the LGTM pack: names, artifacts, the worldview's changes, what is said without a model."""
