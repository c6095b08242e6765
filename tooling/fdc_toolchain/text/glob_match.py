"""Matches paths against globs, in time that is at most the product of their lengths.

`*` and `?` stand for characters of a name, `**/` for any number of folders, and `**` for anything. No
regular expressions are used: a plan's author writes the globs, and `*a*a*a*a*b` must not
take exponential time.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

Tokens = tuple[str, ...]
"""Characters, and the wildcards `_NAME`, `_ONE`, `_ANY`, `_FOLDERS`."""

_ONE, _NAME, _ANY, _FOLDERS = "one of", "name of", "any", "folders"


def compiled(pieces: Iterable[tuple[bool, str]]) -> Tokens:
    """The tokens of a glob in pieces; a piece with True stands for itself, character by character."""
    out: list[str] = []
    for literal, text in pieces:
        at = 0
        while at < len(text):
            if literal:
                token, width = text[at], 1
            elif text.startswith("**/", at):
                token, width = _FOLDERS, 3
            elif text.startswith("**", at):
                token, width = _ANY, 2
            else:
                token, width = {"*": _NAME, "?": _ONE}.get(text[at], text[at]), 1
            at += width
            out.append(token)
    return tuple(out)


def fits(path: str, tokens: Tokens) -> bool:
    """True where the whole path is one that the tokens describe."""
    walker = _walker(tokens)
    place = walker.start
    for character in path:
        following = place.next.get(character)
        if following is None:
            following = walker.step(place, character)
        place = following
    return place.accepts


class _Place:
    """A state of the matcher: a set of positions, and the states after characters that were read there."""

    __slots__ = ("positions", "next", "accepts")

    def __init__(self, positions: frozenset[int], accepts: bool) -> None:
        self.positions = positions
        self.next: dict[str, _Place] = {}
        self.accepts = accepts


class _Walker:
    """The matcher of one glob: a deterministic automaton whose states are made when a path reaches them."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.places: dict[frozenset[int], _Place] = {}
        self.start = self._place(frozenset(closed({0}, tokens)))

    def step(self, place: _Place, character: str) -> _Place:
        """The state after a character."""
        if len(self.places) > 2000:
            self.places.clear()
        following = place.next[character] = self._place(
            frozenset(after(place.positions, self.tokens, character))
        )
        return following

    def _place(self, positions: frozenset[int]) -> _Place:
        place = self.places.get(positions)
        if place is None:
            place = self.places[positions] = _Place(positions, 2 * len(self.tokens) in positions)
        return place


@lru_cache(maxsize=256)
def _walker(tokens: Tokens) -> _Walker:
    return _Walker(tokens)


def after(positions: Iterable[int], tokens: Tokens, character: str) -> set[int]:
    """The positions after a character: a token's number, doubled; odd ones stand inside a folder's name of `**/`."""
    out: set[int] = set()
    for position in positions:
        number = position >> 1
        if number == len(tokens):
            continue
        token = tokens[number]
        if token == _FOLDERS:
            if character != "/":
                out.add(2 * number + 1)
            elif position & 1:
                out.add(2 * number)
        elif token == _ANY or token == _NAME and character != "/":
            out.add(2 * number)
        elif token == _ONE and character != "/" or token == character:
            out.add(2 * number + 2)
    return closed(out, tokens)


def closed(positions: set[int], tokens: Tokens) -> set[int]:
    """The positions, with those after every token that may match the empty text."""
    out = set(positions)
    work = list(positions)
    while work:
        position = work.pop()
        behind = position + 2
        if behind in out or position & 1 or position >> 1 == len(tokens):
            continue
        if tokens[position >> 1] in (_ANY, _NAME, _FOLDERS):
            out.add(behind)
            work.append(behind)
    return out


@lru_cache(maxsize=1 << 10)
def _glob(glob: str) -> Tokens:
    return compiled([(False, glob)])


def matches(path: str, glob: str) -> bool:
    """True where the glob matches the path."""
    return fits(path, _glob(glob))


def compare(inner: Tokens, outer: Tokens) -> bool | None:
    """Compares two sets of paths: True where the first is part of the second, False where they share no path.

    None otherwise. Walks both at once, letter by letter; all letters that neither glob names behave alike.
    """
    literals = {token for token in (*inner, *outer) if len(token) == 1}
    letters = (*sorted(literals | {"/"}), "\0")
    start = (frozenset(closed({0}, inner)), frozenset(closed({0}, outer)))
    seen = {start}
    work = [start]
    both = only = False
    while work and not (both and only):
        left, right = work.pop()
        if 2 * len(inner) in left:
            if 2 * len(outer) in right:
                both = True
            else:
                only = True
        for letter in letters:
            moved = frozenset(after(left, inner, letter))
            if not moved:
                continue
            state = (moved, frozenset(after(right, outer, letter)))
            if state not in seen:
                seen.add(state)
                work.append(state)
    return None if both and only else both


def meet(first: Tokens, second: Tokens) -> bool:
    """True where some path is one that both describe. In time that grows with the product of their lengths."""
    ends = 2 * len(first), 2 * len(second)
    work = [(left, right) for left in closed({0}, first) for right in closed({0}, second)]
    seen = set(work)
    while work:
        at = work.pop()
        if at == ends:
            return True
        current_tokens = [
            tokens[position >> 1]
            for tokens, position in zip((first, second), at, strict=True)
            if position >> 1 < len(tokens)
        ]
        for letter in {"/", "\0", *(token for token in current_tokens if len(token) == 1)}:
            for left in after(at[:1], first, letter):
                for right in after(at[1:], second, letter):
                    if (left, right) not in seen:
                        seen.add((left, right))
                        work.append((left, right))
    return False


def within(glob: str, allowed: Iterable[Tokens], *, folder: bool = False) -> bool:
    """True where one of the globs in `allowed` names every file that `glob` may name for the runner.

    `folder`: a path without a wildcard may be that of a folder, and then means what is in it. A set of characters
    (`[ab]`) counts as any; a path that leads upwards, or begins at the root of the machine, is never within.
    """
    path = plain(glob)
    if glob.startswith("/") or ".." in path.split("/"):
        return False
    name = path.rstrip("/")
    if folder and not name:
        name = "**"
    texts = [name]
    if folder and not any(mark in name for mark in "*?["):
        texts.append(f"{name}/**")
    inner = [
        compiled([(False, "/".join("*" if "[" in part else part for part in text.split("/")))])
        for text in texts
    ]
    return any(compare(pattern, outer) is True for outer in allowed for pattern in inner)


def plain(path: str) -> str:
    """A path without `./`, doubled slashes and a slash at the start.

    `..` stays as it is: no tool of fdc follows it.
    """
    names = path.split("/")
    parts = [name for name in names if name not in ("", ".")]
    return "/".join(parts) + ("/" if parts and names[-1] in ("", ".") else "")
