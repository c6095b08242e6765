"""Concepts as sets of labels; fdc's implementation, to import or to replace."""

from fdc_packs.alphabet.calculus.sets import SetCalculus

__all__ = ["SetCalculus"]
