"""The rules of a workspace's protocols as checks over the steps of every run (`fdc protocols` reads the rest)."""
