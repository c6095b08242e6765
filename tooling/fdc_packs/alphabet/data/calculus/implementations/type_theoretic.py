"""A concept is a type: a feature structure over nothing (0) < had (1), denied (2) < both (3); composing joins."""


def concept(had, denied, primes):
    return compose(dict.fromkeys(had, 1), dict.fromkeys(denied, 2))


def tracks(value, primes):
    return tuple(frozenset(one for one in value if value[one] & bit) for bit in (1, 2))


def compose(*values):
    found = {}
    for value in values:
        for one, feature in value.items():
            found[one] = found.get(one, 0) | feature
    return found


def contains(whole, part):
    had = [one for one in part if part[one] & 1]
    return bool(had) and all(whole.get(one, 0) & 1 for one in had)


def common(one, two):
    return {name: one[name] & two[name] for name in one if one[name] & two.get(name, 0)}


def subtype(one, two):
    return all(one.get(name, 0) & feature == feature for name, feature in two.items())


def consistent(value):
    return 3 not in value.values()
