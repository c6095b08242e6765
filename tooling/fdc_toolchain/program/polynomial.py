"""Costs as polynomials in numbers of files that are not known yet. All terms are positive, so each result is an upper bound."""

from __future__ import annotations

Polynomial = dict[tuple[str, ...], float]
"""Each product of numbers of files, by their globs, to its coefficient; `rules.bounds.shown` writes it."""

MOST_TERMS = 200
"""With more terms than this, all numbers of files are replaced by the largest, `n`."""


def constant(number: float) -> Polynomial:
    """A number; 0 has no terms."""
    return {(): number} if number else {}


def poly_sum(left: Polynomial, right: Polynomial) -> Polynomial:
    """The sum."""
    if not left or not right:
        return left or right
    out = dict(left)
    for sizes, coefficient in right.items():
        out[sizes] = out.get(sizes, 0) + coefficient
    return _small(out)


def poly_max(left: Polynomial, right: Polynomial) -> Polynomial:
    """The larger coefficient of each term."""
    return _small(
        {sizes: max(left.get(sizes, 0), right.get(sizes, 0)) for sizes in {**left, **right}}
    )


def poly_times(poly: Polynomial, size: int | str) -> Polynomial:
    """The product with a number, or with the number of files of a glob."""
    if isinstance(size, int):
        return {sizes: coefficient * size for sizes, coefficient in poly.items()} if size else {}
    return _small(
        {tuple(sorted((*sizes, size))): coefficient for sizes, coefficient in poly.items()}
    )


def _small(poly: Polynomial) -> Polynomial:
    if len(poly) <= MOST_TERMS:
        return poly
    out: Polynomial = {}
    for sizes, coefficient in poly.items():
        one = ("n",) * len(sizes)
        out[one] = out.get(one, 0) + coefficient
    return out
