"""What a comparison that failed says of a text: what stands in one side and not in the other may be lost, or too much. Pure."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator

_QUOTED = re.compile(r"'([^'\\\n]{1,60})'|\"([^\"\\\n]{1,60})\"|\[([^\]\n]{1,60})\]$", re.MULTILINE)
_RAISES = re.compile(
    r"(?:raises|assertRaises|assertRaisesRegex)\(\s*([\w.]+)|DID NOT RAISE.*?'([\w.]+)'|\n?(\w+) not raised"
)
_MATCHES = re.compile(
    r"(?:raises|assertRaisesRegex)\(\s*([\w.]+)\s*,\s*(?:match\s*=\s*)?r?(['\"])(.{1,120}?)\2"
)
_SPECIAL = re.compile(r"(?<!\\)[][*+?{}()|]|\\\w")
MOST = 40
"""Characters that a text is thought to have lost or won."""
NEAR = 12
"""Characters around them that say where."""
_SIDE = r"(\w*'(?:[^'\\\n]|\\.)*'|\w*\"(?:[^\"\\\n]|\\.)*\")"
_FILLED = re.compile(r"\{\w*(?:![rsa])?(?::[^{}]*)?\}|%[-+#0-9.]*[a-zA-Z]")
"""Where a text is filled in: what stands there in the comparison is not known."""
_COMPARED = re.compile(rf"{_SIDE}\s*(?:==|!=)\s*{_SIDE}")

_METHODS = "lower upper title capitalize swapcase strip lstrip rstrip split splitlines encode decode".split()
_FUNCTIONS: dict[str, Callable[..., object]] = {
    one.__name__: one for one in (list, tuple, set, dict, sorted, str, repr, int, float, bytes, abs, len, sum, min, max, round)
}  # fmt: skip
_CONVERT = (*_METHODS, *_FUNCTIONS)
_CASES = "lower upper capitalize title swapcase".split()
"""Methods of a text that change its letters' case."""


class Told:
    """What the output of failing tests holds that a repair may need: their texts, the marks in these, the wanted exceptions."""

    def __init__(self, said: str) -> None:
        quoted = [next(one for one in row if one) for row in _QUOTED.findall(said)]
        self.texts = list(dict.fromkeys(quoted))[:24]
        seen = (
            one
            for text in quoted
            for one in text
            if one.isascii() and not one.isalnum() and one.isprintable()
        )
        self.marks = [one for one in dict.fromkeys(seen) if one != " "][:12]
        self.wanted: dict[str, str] = {}
        for row in _RAISES.findall(said):
            module, _, name = next(one for one in row if one).rpartition(".")
            self.wanted[name] = module or self.wanted.get(name, "")
        """The wanted exceptions, each with the module that its class says, where it is said."""
        said_words = ((row[0].rpartition(".")[2], _plain(row[2])) for row in _MATCHES.findall(said))
        self.words = {name: text for name, text in said_words if text}
        """What the message of a wanted exception is to have in it, where that is a plain text."""


def _plain(pattern: str) -> str:
    """A text that a pattern finds, where it is one but for its dots; else empty."""
    if _SPECIAL.search(pattern):
        return ""
    return re.sub(r"\\(.)", r"\1", pattern.removeprefix("^").removesuffix("$"))


def mended(value: str, message: str) -> Iterator[str]:
    """The texts that `value` would be if it lost, or won, what the two sides of the failed comparison do not share."""
    for one, other in _sides(message):
        head = _alike(one, other)
        tail = _alike(one[head:][::-1], other[head:][::-1])
        lost, put = one[head : len(one) - tail], other[head : len(other) - tail]
        if max(len(lost), len(put)) <= MOST:
            yield from _exchanged(value, lost, put, one[:head], one[len(one) - tail :])


def missing(message: str) -> Iterator[str]:
    """What one side of the failed comparison has where the other one has `None`: `'4th'` and `'4None'` give `th`."""
    for wanted, seen in _sides(message):
        head, mark, tail = seen.partition("None")
        fits = (
            len(wanted) > len(head) + len(tail)
            and wanted.startswith(head)
            and wanted.endswith(tail)
        )
        if mark and fits and head + tail:
            yield wanted[len(head) : len(wanted) - len(tail)]


def converting(message: str) -> list[str]:
    """The functions, and methods of what is compared, that make one side of the failed comparison of the other one, or each of
    its elements: `lower` for `'Ab'` and `'ab'`, `tuple` for `[1]` and `(1,)`; or what may make it of an iterator."""
    sides = _values(message)
    if not sides:
        return [*_drained(message), *cased(message)]
    whole = [name for name in _CONVERT if any(_makes(name, *pair) for pair in (sides, sides[::-1]))]
    return list(dict.fromkeys((*whole, *cased(message))))


def _drained(message: str) -> tuple[str, ...]:
    """What may make the value on one side of the failed comparison of the iterator on the other: a sum, an element, a list."""
    for left, right in _written(message):
        for one, other in ((left, right), (right, left)):
            if _ITERATOR.fullmatch(one.strip()):
                try:
                    return _DRAINED.get(type(ast.literal_eval(other)), ("next",))
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    return ()
    return ()


_ITERATOR = re.compile(r"<(?:map|filter|zip|generator|\w*iterator|itertools\.\w+) object\b.*>")
_DRAINED: dict[type, tuple[str, ...]] = {
    int: ("sum", "len", "next", "max", "min"), float: ("sum", "next", "max", "min"), bool: ("any", "all", "next"),
    list: ("list", "sorted"), tuple: ("tuple",), set: ("set",), frozenset: ("frozenset",), dict: ("dict",),
}  # fmt: skip


@functools.lru_cache(maxsize=64)
def cased(message: str) -> tuple[str, ...]:
    """The methods that change the case of letters, where the two sides of the failed comparison differ in nothing else: a part
    of the text may need any of them."""
    sides = _sides(message)
    differ = any(one != other and one.lower() == other.lower() for one, other in sides)
    return tuple(_CASES) if differ else ()


def _values(message: str) -> tuple[object, ...]:
    """The two sides of the failed comparison, where both are written as values; else nothing."""
    for left, right in _written(message):
        try:
            return ast.literal_eval(left), ast.literal_eval(right)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return ()


def _written(message: str) -> Iterator[tuple[str, str]]:
    """What may be the two sides of the failed comparison, as they are written."""
    first = message.partition("\n")[0]
    first = re.sub(r"^(?:\w+Error: )?(?:assert |(?:\w+ )+differ: )?", "", first)
    for sign in re.finditer(r" (?:==|!=) ", first):
        yield first[: sign.start()], first[sign.end() :]


def _makes(name: str, one: object, other: object) -> bool:
    """True where a function or method makes the second value of the first; a truth value is made of too much to say anything."""
    if bool in (type(one), type(other)) or repr(one) == repr(other):
        return False
    if repr(_made(name, one)) == repr(other):
        return True
    if not (isinstance(one, list | tuple) and isinstance(other, list | tuple)):
        return False
    pairs = list(zip(one, other, strict=False))
    apart = [(left, right) for left, right in pairs if repr(left) != repr(right)]
    if type(one) is not type(other) or len(one) != len(other) or not apart:
        return False
    return all(repr(_made(name, left)) == repr(right) for left, right in apart)


def _made(name: str, value: object) -> object:
    """What a function or method makes of a value; something that is like nothing else where it cannot."""
    made = getattr(value, name, None) if name in _METHODS else functools.partial(_FUNCTIONS[name], value)  # fmt: skip
    try:
        return made() if callable(made) else ...
    except (TypeError, ValueError, OverflowError):
        return ...


def _sides(message: str) -> list[tuple[str, str]]:
    """The two texts of the failed comparison, in either order; none where they are no texts."""
    found = _COMPARED.search(message)
    try:
        sides = [ast.literal_eval(one) for one in found.groups()] if found is not None else []
    except (SyntaxError, ValueError):
        return []
    if not sides or not all(isinstance(one, str) for one in sides):
        return []
    return [(sides[0], sides[1]), (sides[1], sides[0])]


def _exchanged(value: str, lost: str, put: str, before: str, after: str) -> Iterator[str]:
    """`put` for `lost` wherever the characters beside it are those that the side has, as far as the text reaches."""
    for at in range(len(value) - len(lost) + 1):
        left, right = value[:at], value[at + len(lost) :]
        near = _FILLED.split(left)[-1][-NEAR:], _FILLED.split(right)[0][:NEAR]
        if value[at : at + len(lost)] != lost or not any(near):
            continue
        if before.endswith(near[0]) and after.startswith(near[1]):
            yield left + put + right


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    return at
