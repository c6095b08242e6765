"""A concept is a vector with two axes for each primitive, one for having and one for denying it: both at once stays visible."""

import math


def _dot(one, two):
    return sum(a * b for a, b in zip(one, two, strict=True))


def concept(had, denied, primes):
    return [float(one in some) for some in (had, denied) for one in primes]


def tracks(value, primes):
    half = len(value) // 2
    return tuple(
        frozenset(one for one, size in zip(primes, part, strict=True) if size)
        for part in (value[:half], value[half:])
    )


def compose(*values):
    return [max(sizes) for sizes in zip(*values, strict=True)]


def contains(whole, part):
    half = len(part) // 2
    return any(part[:half]) and _dot(whole[:half], part[:half]) == sum(part[:half])


def common(one, two):
    return [min(sizes) for sizes in zip(one, two, strict=True)]


def subtype(one, two):
    return _dot(one, two) == _dot(two, two)


def consistent(value):
    half = len(value) // 2
    return _dot(value[:half], value[half:]) == 0


def similarity(one, two):
    """The cosine of the angle between two concepts, 0 to 1: what no other calculus has."""
    length = math.sqrt(_dot(one, one) * _dot(two, two))
    return _dot(one, two) / length if length else 0.0
