"""Concepts as graphs that remember how they were composed; fdc's implementation, to import or to replace."""

from fdc_packs.alphabet.calculus.graphs import GraphCalculus

__all__ = ["GraphCalculus"]
