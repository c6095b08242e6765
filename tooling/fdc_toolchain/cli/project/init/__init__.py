"""`fdc init`: what a repository needs to work with fdc, written into it whole or not at all."""
