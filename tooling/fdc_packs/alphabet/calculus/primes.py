"""The sequence of primes that primitives are numbered with (ALPH-21, 73): as far as anybody composes."""

from __future__ import annotations

import math
from collections.abc import Iterable

_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
"""Enough for every number below 3.3e24 (Sorenson and Webster 2015)."""


def up_to(limit: int) -> list[int]:
    """Every prime that is at most `limit`, ascending."""
    if limit < 2:
        return []
    sieve = bytearray([1]) * (limit + 1)
    sieve[0:2] = b"\0\0"
    for number in range(2, math.isqrt(limit) + 1):
        if sieve[number]:
            sieve[number * number :: number] = bytes(len(range(number * number, limit + 1, number)))
    return [number for number in range(limit + 1) if sieve[number]]


def is_prime(number: int) -> bool:
    """Whether a number is prime; certain below 3.3e24."""
    if number < 2:
        return False
    for small in _WITNESSES:
        if number % small == 0:
            return number == small
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for witness in _WITNESSES:
        power = pow(witness, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def next_unused(used: Iterable[int]) -> int:
    """The prime after the greatest that was ever used: primes are given in order and never again (ALPH-21)."""
    number = max(used, default=1) + 1
    while not is_prime(number):
        number += 1
    return number


def strangers(numbers: Iterable[int]) -> list[int]:
    """Those of the numbers that are not prime, in their order. Ten thousand are looked at in milliseconds."""
    asked = list(numbers)
    limit = 1 << 21
    sieved = set(up_to(min(max(asked, default=0), limit)))
    return [
        number
        for number in asked
        if (number not in sieved if number <= limit else not is_prime(number))
    ]
