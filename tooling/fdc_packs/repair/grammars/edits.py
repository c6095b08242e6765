"""Small edits after which a parser reads a file: brackets, quotes, commas and the like, near to where it stops.

The parser is the first judge, as for Python: an edit is proposed only where the file can be read with it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from ..mutate.syntax import candidate
from .judge import LONGEST, Judge, Trouble, judge_of

if TYPE_CHECKING:
    from ..shapes import Candidate

MOST, DEEP, WIDE = 24, 2, 6
"""The repairs that are given, the edits that one may combine, and those that are followed up."""
READ, FEW, MANY = 6_000_000, 60, 600
"""Characters that are read to judge the edits of a text, and the edits that are judged, at least and at most."""
PAIRS = {"(": ")", "[": "]", "{": "}"}
_SKIPPED = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`", re.DOTALL
)
_JOINTS = re.compile(r"(?<=[\w)\]}'\"`])(?=\s*(?:$|[\s;,:{})\]]))")
"""Where something could end in a line: behind a word, a text or a bracket."""


_BEGINS = re.compile(r"(?<!\w)(?=\w|['\"`(\[{])|(?<=[\w)])\s*(?=[\w'\"`(\[{])|$")
"""Where something could begin in a line: before a word, a text or a bracket."""
_TOO_MANY = re.compile(r"[,;:]+(?=\s*$)|,(?=\s*[)\]}])|&&|\|\||=>|[^\w\s]")
_SIGN = re.compile(r"&&|\|\||=>|[=!]=+|\w+|[^\w\s]")
_KEYWORDS = (
    "async await break case catch class const continue default delete else enum export extends false finally for from func "
    "function if implements import interface let match new null package private public return static struct super switch "
    "this throw true try typeof use var void while yield"
).split()
_OTHERS = {
    "True": "true",
    "False": "false",
    "None": "null",
    "undefined": "null",
    "NaN": "null",
    "elif": "else if",
    "nil": "null",
}
"""Words of other languages, and what they are here where these do not fit."""


class Open(NamedTuple):
    """A bracket without a partner: its sign and its offset."""

    sign: str
    at: int


def repairs(text: str, path: str, tried: set[str]) -> list[Candidate]:
    """Candidates as `mutate.propose` gives them, the most fitting first; none where the file can be read, or nothing reads it."""
    judge = judge_of(path) if len(text) <= LONGEST else None
    first = None if judge is None else judge.trouble(text)
    if judge is None or first is None:
        return []
    many = min(MANY, max(FEW, READ // (1 + len(text))))
    found: dict[str, str] = {}
    front = [(text, "", first)]
    for _ in range(DEEP):
        further: list[tuple[float, int, str, str, Trouble]] = []
        for now, kind, said in front:
            for rank, (one, after) in enumerate(itertools.islice(_edits(now, said), many)):
                left = judge.trouble(after)
                if left is None:
                    found.setdefault(after, kind or one)
                elif left.much < said.much:
                    further.append((left.much, rank, after, kind or one, left))
        if found or not further:
            break
        best = sorted(further, key=lambda row: row[:2])[:WIDE]
        front = [(after, kind, left) for _, _, after, kind, left in best]
        many = max(1, many // WIDE)
    return _rows(text, path, found, first, judge, tried)


def _rows(
    text: str, path: str, found: dict[str, str], said: Trouble, judge: Judge, tried: set[str]
) -> list[Candidate]:
    rows = [
        candidate(text, after, path, kind, said, rank, judge.language)
        for rank, (after, kind) in enumerate(found.items())
    ]
    return [row for row in rows if row["key"] not in tried][:MOST]


def _edits(text: str, said: Trouble) -> Iterator[tuple[str, str]]:
    """Texts with one small edit, the most fitting first, and the kind of each."""
    lines = text.split("\n")
    at = min(said.line, len(lines)) - 1
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    place = min(starts[at] + said.column - 1, len(text))
    above = [one for one in range(at - 1, max(-1, at - 4), -1) if lines[one].strip()][:1]
    others = [min(one, len(lines)) - 1 for one in said.others]
    below = range(at + 1, min(at + 3, len(lines)))
    near = list(dict.fromkeys([at, *above, *others, *below]))
    seen = {text}
    for kind, start, end, instead in _pieces(text, lines, starts, near, place, said):
        after = text[:start] + instead + text[end:]
        if after not in seen:
            seen.add(after)
            yield kind, after


def _pieces(
    text: str, lines: list[str], starts: list[int], near: list[int], place: int, said: Trouble
) -> Iterator[tuple[str, int, int, str]]:
    for number in near:
        yield from _spelt(lines[number], starts[number])
        yield from _quotes(lines[number], starts[number])
    for bracket in _partnerless(text):
        if bracket.sign in PAIRS:
            yield from _closed(bracket, text, lines, starts)
        else:
            yield from _opened(bracket, text)
    for number in near:
        yield from _balanced(lines[number], starts[number])
    if said.missing and not said.missing.isidentifier():
        yield "sign", place, place, said.missing
    for number in near:
        yield from _set_apart(lines[number], starts[number])
    for number in near:
        for found in _TOO_MANY.finditer(lines[number]):
            yield "sign", starts[number] + found.start(), starts[number] + found.end(), ""
    before = re.search(r",\s*\Z", text[:place])
    if before is not None:
        yield "comma", before.start(), before.start() + 1, ""
    word = _SIGN.match(text, place)
    if word is not None:
        yield "sign", place, word.end(), ""
        yield "quote", place, word.end(), f'"{word[0]}"'
    for number in near:
        yield from _other_signs(lines[number], starts[number])


def _set_apart(line: str, start: int) -> Iterator[tuple[str, int, int, str]]:
    for joint in reversed([one.start() for one in _JOINTS.finditer(line)]):
        for sign in (",", ":", ";"):
            yield "sign" if sign == ";" else "comma", start + joint, start + joint, sign


def _other_signs(line: str, start: int) -> Iterator[tuple[str, int, int, str]]:
    for found in re.finditer(r"'([^'\"]*)'", line):
        yield "quote", start + found.start(), start + found.end(), f'"{found[1]}"'
    for found in re.finditer(r"=(?=[^=])", line):
        yield "sign", start + found.start(), start + found.end(), ":"


def _partnerless(text: str) -> list[Open]:
    """The brackets without a partner, outside of texts and comments, the last opened first; before these the ones whose
    partner is indented in another way."""
    bare = _SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    above: list[Open] = []
    wrong: list[Open] = []
    strange: list[Open] = []
    for found in re.finditer(r"[()\[\]{}]", bare):
        one = Open(found[0], found.start())
        if one.sign in PAIRS:
            above.append(one)
        elif above and PAIRS[above[-1].sign] == one.sign:
            begins, ends = _depth_at(text, above[-1].at), _depth_at(text, one.at)
            alone = not text[text.rfind("\n", 0, one.at) + 1 : one.at].strip()
            if alone and begins != ends:
                strange.append(above[-1] if begins > ends else one)
            above.pop()
        else:
            partner = any(PAIRS[other.sign] == one.sign for other in above)
            while partner and PAIRS[above[-1].sign] != one.sign:
                wrong.append(above.pop())
            if partner:
                above.pop()
            else:
                wrong.append(one)
    return [*strange[:3], *wrong, *reversed(above)] if wrong or above else []


def _closed(
    one: Open, text: str, lines: list[str], starts: list[int]
) -> Iterator[tuple[str, int, int, str]]:
    """Where a bracket could be closed: in its line, the last place first; and above the line that is indented no deeper."""
    closing = PAIRS[one.sign]
    at = text.count("\n", 0, one.at)
    depth = _depth(lines[at])
    below = next(
        (
            number
            for number in range(at + 1, len(lines))
            if lines[number].strip() and _depth(lines[number]) <= depth
        ),
        len(lines) - 1,
    )
    block = f"{' ' * depth if lines[at][:1] != chr(9) else lines[at][:depth]}{closing}"
    inside = text[one.at + 1 : starts[at + 1] - 1].strip()
    if not inside:  # a block: what belongs to it is indented deeper
        yield "brackets", starts[below], starts[below], f"{block}\n"
        if lines[below].lstrip()[:1] in (*PAIRS.values(), ",", ";"):
            yield "brackets", starts[below], starts[below], block
    for joint in reversed([found.start() for found in _JOINTS.finditer(lines[at])]):
        if starts[at] + joint > one.at:
            yield "brackets", starts[at] + joint, starts[at] + joint, closing
    yield "brackets", one.at + 1, one.at + 1, closing
    last = next((n for n in range(below - 1, at, -1) if lines[n].strip()), at)
    end = starts[last] + len(lines[last].rstrip())
    for place in dict.fromkeys((end, end - (lines[last].rstrip()[-1:] in (",", ";")))):
        yield "brackets", place, place, closing
    yield "brackets", starts[below], starts[below], f"{block}\n"
    whole = len(text.rstrip("\n"))
    yield "brackets", whole, whole, f"\n{closing}"
    yield "brackets", one.at, one.at + 1, ""


def _opened(one: Open, text: str) -> Iterator[tuple[str, int, int, str]]:
    """A bracket that closes nothing: without it, or with a partner in its line or at the end of the line above."""
    yield "brackets", one.at, one.at + 1, ""
    opening = next(sign for sign, closing in PAIRS.items() if closing == one.sign)
    begin = text.rfind("\n", 0, one.at) + 1
    for found in _BEGINS.finditer(text[begin : one.at]):
        yield "brackets", begin + found.start(), begin + found.start(), opening
    lines = text[:begin].split("\n")
    depth = _depth(text[begin : one.at] or "")
    end = begin
    for number in range(len(lines) - 2, max(-1, len(lines) - 40), -1):
        end = len("\n".join(lines[: number + 1]))
        if lines[number].strip() and _depth(lines[number]) <= depth:
            yield "brackets", end, end, f" {opening}"
            break


def _balanced(line: str, start: int) -> Iterator[tuple[str, int, int, str]]:
    """A line that closes more brackets of a kind than it opens, or the other way round, with one more of them."""
    bare = _SKIPPED.sub(lambda found: "_" * len(found[0]), line)
    for opening, closing in PAIRS.items():
        more = bare.count(opening) - bare.count(closing)
        if more < 0:
            for found in _BEGINS.finditer(bare):
                yield "brackets", start + found.start(), start + found.start(), opening
        elif more > 0 and not bare.rstrip().endswith(opening):
            for joint in reversed([found.start() for found in _JOINTS.finditer(line)]):
                yield "brackets", start + joint, start + joint, closing


def _spelt(line: str, start: int) -> Iterator[tuple[str, int, int, str]]:
    """A line with a misspelt keyword put right, or a word of another language."""
    bare = _SKIPPED.sub(lambda found: "_" * len(found[0]), line)
    for found in re.finditer(r"(?<![\w.$])[A-Za-z]\w+", bare):
        if found[0] in _OTHERS:
            yield "word", start + found.start(), start + found.end(), _OTHERS[found[0]]
        elif found[0] not in _KEYWORDS:
            for word in get_close_matches(found[0], _KEYWORDS, 1, 0.75):
                yield "word", start + found.start(), start + found.end(), word


def _quotes(line: str, start: int) -> Iterator[tuple[str, int, int, str]]:
    for mark in "\"'`":
        if len(re.findall(rf"(?<!\\){mark}", line)) % 2 == 0:
            continue
        bare = len(line.rstrip())
        tail = re.search(r"[)\]},:;\s]*$", line[:bare])
        begin = tail.start() if tail else bare
        joints = [found.start() for found in _JOINTS.finditer(line)]
        for place in dict.fromkeys((begin, *range(begin + 1, bare + 1), *reversed(joints))):
            yield "quote", start + place, start + place, mark
        for found in re.finditer(r"(?<!\w)(?=\w)", line):
            yield "quote", start + found.start(), start + found.start(), mark
        for found in re.finditer(mark, line):
            yield "quote", start + found.start(), start + found.end(), ""


def _depth_at(text: str, at: int) -> int:
    """How deep the line is indented in which this offset is."""
    return _depth(text[text.rfind("\n", 0, at) + 1 : at + 1])


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
