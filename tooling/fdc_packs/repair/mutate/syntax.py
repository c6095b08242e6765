"""Repairs of a file that Python's parser does not read: brackets, colons, quotes, indentation, by the parser's own messages.

The parser is the first judge: an edit is proposed only where the file can be read with it, or is read further than before.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import keyword
import re
import warnings
from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple, Protocol

from fdc_toolchain.api.text import unified

from .source import same

if TYPE_CHECKING:
    from ..shapes import Candidate

Piece = tuple[int, int, str]
DEEP, WIDE, MOST = 3, 4, 24
"""Edits that one repair may combine, those that are followed up, and the repairs that are given."""
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_OPENS = re.compile(
    r"\s*(?:async |if|elif|else|for|while|try|except|finally|with|def|class|match|case)\b"
)
_SAYS = {
    "brackets": ("grouping", "match_brackets", "a bracket has no partner", "Group what the bracket encloses."),
    "colon": ("nesting", "open_block", "a compound statement has no colon", "Open the block that is nested below."),
    "quote": ("scope", "close_text", "a text is not closed", "End the scope of the text where its line needs it."),
    "indentation": ("nesting", "indent_block", "a line is not indented as its block is", "Nest the line in its block."),
    "comma": ("grouping", "separate_items", "two items are not apart", "Group two neighbours as two items."),
    "word": ("nesting", "spell_statement", "a word or sign is none of the language", "Write the statement in its words."),
    "sign": ("ordering", "complete_statement", "a sign is missing, or there is one too many", "Order what follows."),
    "conflict": ("grouping", "choose_side", "both sides of a merge stand there", "Keep one side of the merge, or both."),
}  # fmt: skip
_STRANGE = tuple((re.compile(pattern), instead) for pattern, instead in (
    (r"\s+(?:then|do)\b\s*:?\s*$", ":"), (r"\s*\{\s*$", ":"), (r"\b(?:else\s+if|els?e?if)\b", "elif"),
    (r"\s*&&\s*", " and "), (r"\s*\|\|\s*", " or "), (r"!(?!=)\s*", "not "),
    (r"^(\s*)(\w[\w.]*)\+\+;?\s*$", r"\1\2 += 1"), (r"^(\s*)(\w[\w.]*)--;?\s*$", r"\1\2 -= 1"),
    (r"^(\s*)(print|exec)\s+(.+)$", r"\1\2(\3)"), (r"^(\s*except\s+[\w.]+),\s*(\w+)\s*:", r"\1 as \2:"),
    (r"^(\s*raise\s+[\w.]+),\s*(.+)$", r"\1(\2)"), (r"^(\s*)(?:function|func|fn)\b", r"\1def"), (r"^(\s*)catch\b", r"\1except"),
    ("[\u201c\u201d]", '"'), ("[\u2018\u2019]", "'"),
))  # fmt: skip
"""Words and signs of other languages, of Python 2 and of text processors, and what they are here."""
_CONFLICT = re.compile(
    r"^<{7}[^\n]*\n(.*?)(?:^\|{7}[^\n]*\n.*?)?^={7}\n(.*?)^>{7}[^\n]*(?:\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
CHOSEN = 3
"""Conflicts of a merge whose sides are chosen one by one; of more the same side is taken everywhere."""


class Wrong(NamedTuple):
    """What the parser says of a text: its message, the place (line and column from 1)."""

    message: str
    line: int
    column: int


def wrong(text: str) -> Wrong | None:
    """Why a text is not a Python; None where it is, or where the parser cannot say."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text.removeprefix("\ufeff"))
    except SyntaxError as said:
        return Wrong(str(said.msg), said.lineno or 1, said.offset or 1)
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def repairs(text: str, path: str, tried: set[str]) -> list[Candidate]:
    """Candidates as `mutate.propose` gives them, the most fitting first."""
    first = wrong(text)
    if first is None:
        return []
    found: dict[str, tuple[str, int]] = {}
    for number, after in enumerate(_merged(text)):
        if wrong(after) is None:
            found.setdefault(after, ("conflict", number))
    front = [(text, "", first, 0)] if not found else []
    for depth in range(1, DEEP + 1):
        further: list[tuple[int, int, str, str, Wrong]] = []
        for now, kind, said, _ in front:
            for rank, (one, after) in enumerate(_edits(now, said)):
                left = wrong(after)
                if left is None:
                    found.setdefault(after, (kind or one, rank + 100 * depth))
                elif left.line > said.line:
                    further.append((-left.line, rank, after, kind or one, left))
        if found or not further:
            break
        front = [(after, kind, left, rank) for _, rank, after, kind, left in sorted(further)[:WIDE]]
    order = sorted(found.items(), key=lambda row: row[1][1])
    rows = [
        candidate(text, after, path, kind, first, at) for at, (after, (kind, _)) in enumerate(order)
    ]
    return [row for row in rows if row["key"] not in tried][:MOST]


def _merged(text: str) -> Iterator[str]:
    """The text with one side of each conflict of a merge, or with both."""
    parts = list(_CONFLICT.finditer(text))
    sides = [(one[1], one[2], one[1] + one[2], one[2] + one[1]) for one in parts]
    every = range(4) if parts else ()
    chosen = [(at,) * len(parts) for at in every]
    if 1 < len(parts) <= CHOSEN:
        chosen += itertools.product((0, 1), repeat=len(parts))
    for choice in chosen:
        after = text
        for one, side, at in reversed(list(zip(parts, sides, choice, strict=True))):
            after = after[: one.start()] + side[at] + after[one.end() :]
        yield after


def _edits(text: str, said: Wrong) -> Iterator[tuple[str, str]]:
    """Texts with one small edit near what the parser complains of, the most fitting first."""
    lines = text.split("\n")
    at = min(said.line, len(lines)) - 1
    above = next((one for one in range(at - 1, -1, -1) if lines[one].strip()), at)
    for kind, number, line in _lines(lines, at, above, said):
        if number < len(lines) and line != lines[number]:
            yield kind, "\n".join([*lines[:number], line, *lines[number + 1 :]])


def _lines(lines: list[str], at: int, above: int, said: Wrong) -> Iterator[tuple[str, int, str]]:
    message, line = said.message, lines[at]
    if "indent" in message:
        yield from _indented(lines, at, above)
    if (
        "never closed" in message
        or "does not match" in message
        or "unmatched" in message
        or "invalid" in message
    ):
        yield from _brackets(lines, at, said)
    if "unterminated" in message or "EOF" in message:
        yield from _quotes(lines, at)
    for number in dict.fromkeys((at, above)):
        for instead in _spelt(lines[number]):
            yield "word", number, instead
    for number in dict.fromkeys((at, above)):
        if _OPENS.match(lines[number]):
            code, comment = _comment(lines[number])
            yield "colon", number, f"{code}:{comment}"
            for place in range(len(code), 0, -1):
                if (
                    code[place - 1 : place] in (")", "]", '"', "'")
                    or code[place - 1 : place].isalnum()
                ):
                    yield "colon", number, f"{code[:place]}:{code[place:]}{comment}"
    for number in dict.fromkeys((at, above)):
        for place in _places(lines[number]):
            yield "comma", number, f"{lines[number][:place]},{lines[number][place:]}"
    if "invalid" in message or "EOF" in message or "assign" in message:
        yield from _brackets(lines, above, said)
        yield from _quotes(lines, at)
    yield from _signs(line, at, said)


def _signs(line: str, at: int, said: Wrong) -> Iterator[tuple[str, int, str]]:
    """Without the word or sign at which the parser stops; with a comparison in place of an assignment."""
    for column in (said.column - 1, said.column - 2) if "invalid syntax" in said.message else ():
        found = re.compile(r"\w+|[^\w\s]").match(line, max(0, column))
        if found is not None:
            yield "sign", at, line[: found.start()].rstrip(" ") + line[found.end() :]
    if re.search(r"(?<![=!<>])=(?!=)", line) and _OPENS.match(line):
        for sign in ("==", "<=", ">=", "!="):
            yield "comma", at, re.sub(r"(?<![=!<>:])=(?!=)", sign, line, count=1)


def _spelt(line: str) -> Iterator[str]:
    """The line in Python's words: without those of other languages, and with misspelt keywords put right."""
    code, comment = _comment(line)
    every = code
    for pattern, instead in _STRANGE:
        if (other := pattern.sub(instead, code)) != code:
            yield other + comment
            every = pattern.sub(instead, every)
    yield every + comment
    for found in re.finditer(r"(?<![\w.])[^\W\d]\w+", code):
        if not keyword.iskeyword(found[0]):
            for word in get_close_matches(found[0], keyword.kwlist, 2, 0.6):
                yield f"{code[: found.start()]}{word}{code[found.end() :]}{comment}"


def _comment(line: str) -> tuple[str, str]:
    found = re.match(r"((?:[^#'\"]|'[^']*'|\"[^\"]*\")*?)(\s*(?:#.*)?)$", line)
    return (found[1], found[2]) if found else (line, "")


def _places(line: str) -> list[int]:
    """Where something could stand between two words, the last first."""
    return [found.start() for found in re.finditer(r"(?<=[\w)\]}'\"])\s+(?=[\w(\[{'\"])|$", line)][
        ::-1
    ]


def _brackets(lines: list[str], at: int, said: Wrong) -> Iterator[tuple[str, int, str]]:
    line = lines[at]
    column = min(said.column, len(line)) - 1 if at == said.line - 1 else 0
    if "unmatched" in said.message and 0 <= column < len(line):
        yield "brackets", at, line[:column] + line[column + 1 :]
    opened = re.search(r"'([(\[{])'", said.message)
    closing = _PAIRS[opened[1]] if opened else ""
    if "does not match" in said.message and 0 <= column < len(line):
        yield "brackets", at, line[:column] + closing + line[column + 1 :]
        yield "brackets", at, line[:column] + closing + line[column:]
    code, comment = _comment(line)
    bare = code.rstrip()
    for mark in [closing] if closing else [")", "]", "}"]:
        ends = [len(bare) - 1] if bare.endswith((":", ",")) else []
        for place in [*ends, len(bare), *(one.end() for one in re.finditer(r"[\w)\]}'\"]+", bare))][
            ::-1
        ]:
            yield "brackets", at, f"{bare[:place]}{mark}{bare[place:]}{comment}"
        for number in range(at + 1, min(len(lines), at + 12)):
            yield "brackets", number, lines[number] + mark
            if not lines[number].strip():
                yield (
                    "brackets",
                    number,
                    lines[at][: len(lines[at]) - len(lines[at].lstrip())] + mark,
                )
    for found in re.finditer(r"[()\[\]{}]", line):
        yield "brackets", at, line[: found.start()] + line[found.end() :]
    if "unmatched" in said.message or "does not match" in said.message:
        for mark in (one for one, other in _PAIRS.items() if other == line[column : column + 1]):
            for found in re.finditer(r"(?<![\w.])(?=[\w'\"(\[{])|(?<=\w)(?=[\w'\"(\[{])", line):
                yield "brackets", at, f"{line[: found.start()]}{mark}{line[found.start() :]}"
            for found in re.finditer(r"(?<=\w) *", line):
                yield "brackets", at, f"{line[: found.start()]}{mark}{line[found.end() :]}"


def _quotes(lines: list[str], at: int) -> Iterator[tuple[str, int, str]]:
    line = lines[at]
    yield from _tripled(lines, at)
    triple = re.search(r"\"{3}|'{3}", line)
    for number in range(at, min(len(lines), at + 20)) if triple is not None else ():
        yield "quote", number, f"{lines[number]}{triple[0]}" if triple is not None else line
    marks = [one for one in "'\"" if line.count(one) % 2]
    for mark in marks:
        bare = line.rstrip()
        tail = re.search(r"[)\]},:\s]*$", bare)
        begin = tail.start() if tail else len(bare)
        for place in dict.fromkeys(
            (*range(begin, len(bare) + 1), *range(len(bare), line.index(mark), -1))
        ):
            yield "quote", at, f"{bare[:place]}{mark}{bare[place:]}"
        for found in re.finditer(mark, line):
            yield "quote", at, line[: found.start()] + line[found.end() :]
        for found in re.finditer(r"\b", line[: line.index(mark)]):
            yield "quote", at, f"{line[: found.start()]}{mark}{line[found.start() :]}"


def _tripled(lines: list[str], at: int) -> Iterator[tuple[str, int, str]]:
    """Where one or two of the three quotes of a text of several lines are lost: at its begin above, or in this line."""
    for number in range(at, max(-1, at - 60), -1):
        found = re.match(r"(\s*)(\"{1,2}|'{1,2})(?=[^\"'\s,)\]}:;=])", lines[number])
        if found is not None and lines[number].count(found[2][0]) == len(found[2]):
            yield "quote", number, f"{found[1]}{found[2][0] * 3}{lines[number][found.end() :]}"
    found = re.search(r"(?<![\"'])(\"{1,2}|'{1,2})(\s*)$", lines[at])
    if found is not None:
        yield "quote", at, f"{lines[at][: found.start()]}{found[1][0] * 3}{found[2]}"


def _indented(lines: list[str], at: int, above: int) -> Iterator[tuple[str, int, str]]:
    widths = [_width(one) for one in lines[:at] if one.strip()]
    step = min((one for one in widths if one), default=4)
    before, here = _width(lines[above]) if above < at else 0, _width(lines[at])
    opened = lines[above].rstrip().endswith(":")
    if not opened and here % step == 0 and before % step:  # the line above is the odd one
        yield "indentation", above, " " * here + lines[above].lstrip()
    wanted = [before + step, before] if opened else [before, before - step]
    for width in dict.fromkeys((*wanted, *sorted(set(widths), reverse=True))):
        if width >= 0:
            yield "indentation", at, " " * width + lines[at].lstrip()
    if not opened:
        yield "indentation", above, " " * here + lines[above].lstrip()


def _width(line: str) -> int:
    return len(line) - len(line.lstrip())


class Said(Protocol):
    """What a parser says of a text: its message, and the line."""

    @property
    def message(self) -> str: ...
    @property
    def line(self) -> int: ...


def candidate(
    text: str, after: str, path: str, kind: str, said: Said, rank: int, language: str = "Python"
) -> Candidate:
    """The repair that makes `after` of a text, as `mutate.propose` gives it. `rank`: how many fit better."""
    old, new = text.split("\n"), after.split("\n")
    head = same(old, new)
    tail = min(same(old[::-1], new[::-1]), len(old) - head, len(new) - head)
    first, last = head + 1, max(head + 1, len(old) - tail)
    begins = [0]
    for line in old:
        begins.append(begins[-1] + len(line) + 1)
    if len(old) == len(new):
        rows = zip(range(first, last + 1), old[head:last], new[head:last], strict=True)
        pieces = [[begins[at - 1], begins[at] - 1, now] for at, was, now in rows if was != now]
    else:
        kept = "".join(f"{line}\n" for line in new[head : len(new) - tail])
        pieces = [[begins[head], min(begins[len(old) - tail], len(text)), kept]]
    was, now = old[min(head, len(old) - 1)].strip()[:60], new[min(head, len(new) - 1)].strip()[:60]
    effect = f"`{was}` is to be `{now}`" if now else f"`{was}` is to go"
    if len(new) > len(old):
        effect = f"`{now}` is to stand above `{was}`"
    elif len(new) == len(old) and was == now:
        effect = f"`{now}` is to be indented by {_width(new[head])}, not {_width(old[head])}"
    relation, operation, cause, intent = _SAYS[kind]
    key = hashlib.sha256(f"{path}\0{after}".encode("utf-8", "replace")).hexdigest()[:12]
    return {
        "claim": f"{path}:{first}: {cause} (`{said.message}`, line {said.line}): {effect}",
        "affected_region": {"path": path, "first": first, "last": last, "kind": "lines"},
        "expected_effect": f"{language} reads {path} where {effect}, and the tests that could not begin pass",
        "interpretation": f"line {first} of {path} is not of {language}'s grammar",
        "explanation": f"{language}'s parser says `{said.message}` at line {said.line}, and reads the file with the edit",
        "structural_change": {"type": relation, "operation": operation}, "intent": intent,
        "confidence": round(max(0.05, 0.95 - 0.03 * rank), 4), "diff": unified(path, text, after), "kind": kind,
        "old": was, "new": now, "key": f"syntax-{key}", "pieces": pieces, "risky": False,
    }  # fmt: skip
