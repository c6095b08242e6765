"""`fdc init`: writes the files that a repository needs to work with fdc, all or none."""
