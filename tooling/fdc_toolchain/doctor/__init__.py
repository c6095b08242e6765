"""Checks what fdc can use on this machine."""
