"""A concept is a set of signed labels: union composes, a part is a subset."""


def concept(had, denied, primes):
    return frozenset((one, True) for one in had) | frozenset((one, False) for one in denied)


def tracks(value, primes):
    return tuple(frozenset(one for one, sign in value if sign is kind) for kind in (True, False))


def compose(*values):
    return frozenset().union(*values)


def contains(whole, part):
    had = {one for one in part if one[1]}
    return bool(had) and had <= whole


def common(one, two):
    return one & two


def subtype(one, two):
    return two <= one


def consistent(value):
    return not any((one, not sign) in value for one, sign in value)
