"""Leibniz's own calculus: a concept is a product of primes; fdc's implementation, to import or to replace."""

from fdc_packs.alphabet.calculus.prime import PrimeCalculus

__all__ = ["PrimeCalculus"]
