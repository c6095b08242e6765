"""A concept is a node that points at what it was composed of, down to signed primitives: it remembers how it was composed."""


def concept(had, denied, primes):
    return [*((one, True) for one in had), *((one, False) for one in denied)]


def _leaves(value):
    found, waiting = set(), [value]
    while waiting:  # a list: compositions may be deeper than Python's stack
        node = waiting.pop()
        if isinstance(node, tuple):
            found.add(node)
        else:
            waiting += node
    return found


def tracks(value, primes):
    leaves = _leaves(value)
    return tuple(frozenset(one for one, sign in leaves if sign is kind) for kind in (True, False))


def compose(*values):
    return list(values)


def contains(whole, part):
    had = {one for one in _leaves(part) if one[1]}
    return bool(had) and had <= _leaves(whole)


def common(one, two):
    return sorted(_leaves(one) & _leaves(two))


def subtype(one, two):
    return _leaves(two) <= _leaves(one)


def consistent(value):
    leaves = _leaves(value)
    return not any((one, not sign) in leaves for one, sign in leaves)
