"""Concepts as feature structures; fdc's implementation, to import or to replace."""

from fdc_packs.alphabet.calculus.types import TypeCalculus

__all__ = ["TypeCalculus"]
