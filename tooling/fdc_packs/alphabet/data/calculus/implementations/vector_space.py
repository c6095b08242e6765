"""Concepts as vectors; fdc's implementation, to import or to replace."""

from fdc_packs.alphabet.calculus.vectors import VectorCalculus

__all__ = ["VectorCalculus"]
