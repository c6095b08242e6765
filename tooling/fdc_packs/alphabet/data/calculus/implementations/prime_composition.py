"""Leibniz's own calculus: a concept is a pair of whole numbers, products of the primes that it has and that it denies."""

import math


def concept(had, denied, primes):
    return math.prod(primes[one] for one in had), math.prod(primes[one] for one in denied)


def tracks(value, primes):
    return tuple(frozenset(one for one in primes if part % primes[one] == 0) for part in value)


def compose(*values):
    return tuple(math.lcm(*parts) for parts in zip(*values, strict=True))


def contains(whole, part):
    return part[0] > 1 and whole[0] % part[0] == 0


def common(one, two):
    return math.gcd(one[0], two[0]), math.gcd(one[1], two[1])


def subtype(one, two):
    return one[0] % two[0] == 0 and one[1] % two[1] == 0


def consistent(value):
    return math.gcd(*value) == 1
