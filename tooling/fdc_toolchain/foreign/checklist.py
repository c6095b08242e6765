"""Task lists in Markdown: Spec Kit's, OpenSpec's, Kiro's, and the progress of ExecPlans."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from ..linking.project import regular_file
from ..named_tuples import NamedTuple
from . import checks, kinds
from .model import Found, Item, Named

_BOX = re.compile(r"\[([ xX~-])\](\*?)\s+")
_PATH = re.compile(
    r"(?<![\w/.:@~$#?=&\\-])(?!\w+\.js/)((?:[\w.-]+/)+[\w.-]*\w\.[A-Za-z]\w{0,7})(?![\w/*{<+]|\.\w)"
)
_NEEDS = re.compile(
    r"\b(?:(depends?\s+(?:up)?on|depending\s+on|blocked\s+by)|requires|needs|after)\b:?\s+",
    re.IGNORECASE,
)
_GONE = re.compile(
    r"\b(?:remov|delet|drop|renam|mov(?:e|ing)|retir|clean\w*\s+up|replac|revert|undo|merg|split|migrat|instead|no\s+longer)"
    r"|->|\u2192",
    re.IGNORECASE,
)
"""Words of tasks after which files that they name may be gone."""
_REQUIREMENTS = re.compile(r"_Requirements?:\s*([^_]*)_")
_REQUIREMENT = re.compile(r"^#{1,6} Requirement (\d+)\b", re.MULTILINE)

_NUMBER = re.compile(r"\*{0,2}(\d+(?:\.\d+)*)\.?(?=[\s*:])")
_IDS = {kinds.OPENSPEC: _NUMBER, kinds.KIRO: _NUMBER}
_IDS[kinds.SPEC_TASKS] = re.compile(r"\*{0,2}(T\d{3,}[A-Za-z]?)\b")
_NUMBERS = re.compile(
    r"(\d+\.\d+(?:\.\d+)*)()(?!\.?\w|\s*%|\s+(?!and\b|is\b|are\b|or\b)[a-z])", re.IGNORECASE
)
"""The number of a task, and not of seconds, of a version or of gigabytes."""
_WHOLE = re.compile(r"(\d+)()(?=\s*(?:[),;&+(]|$|\.(?!\w)|(?:and|is|are|or)\b))", re.IGNORECASE)
"""A number without a point, with nothing after it that it could count."""
_REFERENCES = {kinds.OPENSPEC: _NUMBERS, kinds.KIRO: _NUMBERS}
_REFERENCES[kinds.SPEC_TASKS] = re.compile(
    r"(T\d{3,}(?:[A-Za-z]\b)?)(?:\s*[-\u2013]\s*(T?\d{3,}))?"
)
_TASK = re.compile(r"tasks?\s", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:,|;|and|&|\+|/)*\s*(?:tasks?\s+)?", re.IGNORECASE)
MOST_IN_RANGE = 200


class Box(NamedTuple):
    """One checkbox: its mark, whether it is optional, the line (from 1) and column (from 1) of its text, and the lines.

    `below` are the further texts of its item, paragraphs and items without a box: the line (from 1) of each, and its lines.
    """

    mark: str
    optional: bool
    line: int
    column: int
    text: str
    lines: tuple[str, ...]
    below: list[tuple[int, tuple[str, ...]]]


def read(kind: str, path: str, text: str, root: str) -> Found:
    """The tasks of a list, and what is wrong with them."""
    items, optional = _items(kind, path, text)
    found = [*checks.check(items), *checks.capped([*_absent(kind, path, text, items)])]
    base = os.path.join(root, _project(path))
    if kind in (kinds.SPEC_TASKS, kinds.EXEC_PLAN):
        found += checks.missing_paths([item for item in items if item.done], base)
    if kind == kinds.OPENSPEC and "/changes/archive/" not in f"/{path}":
        help_ = "archive it: `openspec archive NAME`"
        found += checks.finished(items, "this change", help_)
    if kind == kinds.KIRO:
        found += _parents(items, optional) + _requirements(path, text, root)
    return Found(kind, found, _facts(items), items)


def boxes(text: str) -> list[Box]:
    """The checkboxes of a Markdown text. Fenced blocks and comments have none."""
    from markdown_it import MarkdownIt

    lines = text.split("\n")
    out: list[Box] = []
    open_: list[Box | None] = []  # the box of each list item that has begun and not ended
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "list_item_open":
            open_.append(open_[-1] if open_ else None)
        elif token.type == "list_item_close":
            open_.pop()
        if token.type != "inline" or not open_ or token.map is None:
            continue
        first, last = token.map
        found, rows = _BOX.search(lines[first]), tuple(lines[first:last])
        if found is None or not _BOX.match(token.content):
            if open_[-1] is not None:
                open_[-1].below.append((first + 1, rows))
            continue
        mark, at = found[1].lower(), found.end()
        box = Box(mark, bool(found[2]), first + 1, at + 1, lines[first][at:], rows, [])
        out.append(box)
        open_[-1] = box
    return out


def _items(kind: str, path: str, text: str) -> tuple[list[Item], set[str]]:
    out: list[Item] = []
    optional: set[str] = set()
    pattern = _IDS.get(kind)
    rows = boxes(text)
    ids = (pattern.match(box.text) for box in rows) if pattern is not None else ()
    known = {found[1] for found in ids if found is not None}
    for number, box in enumerate(rows, 1):
        name, at, width, title = str(number), box.column, len(box.text), box.text
        if pattern is not None:
            found = pattern.match(box.text)
            if found is None:
                continue
            name, title = found[1], box.text[found.end() :]
            at, width = at + found.start(1), len(name)
        span = Span(path, box.line, at, box.line, at + width)
        depends = tuple(_depends(kind, path, box, known))
        starred = re.match(r"[\d.]+\*(?!\*)", box.text)  # `2.2* Write a test`, beside `- [ ]* 2.2`
        if box.optional or kind == kinds.KIRO and starred:
            optional.add(name)
        paths = () if _GONE.search("\n".join(box.lines)) else tuple(_paths(path, box))
        out.append(Item(name, title.strip(), span, box.mark == "x", depends, paths))
    return _blocked(kind, path, text, out), optional


def _rows(box: Box) -> Iterator[tuple[int, int, str]]:
    """(line, column of its first character, text) of the lines of a task."""
    for offset, row in enumerate(box.lines):
        start = box.column - 1 if not offset else 0
        yield box.line + offset, start, row[start:]


def _all_rows(box: Box) -> Iterator[tuple[int, int, str]]:
    """The same with the further texts of its item."""
    yield from _rows(box)
    for line, rows in box.below:
        yield from ((line + offset, 0, row) for offset, row in enumerate(rows))


def _depends(kind: str, path: str, box: Box, known: set[str]) -> Iterator[Named]:
    """What a task waits for. `requires 3.11` and `depends on 5` count only where there is such a task."""
    pattern = _REFERENCES.get(kind)
    for line, start, row in _all_rows(box) if pattern is not None else ():
        for words in _NEEDS.finditer(row):
            named = _list(pattern, path, line, start, row, words.end())  # type: ignore[arg-type]
            said = _TASK.match(row, words.end())
            for name in named:
                whole = name.text.isdecimal()
                sure = words[1] and (said or not whole) or kind == kinds.SPEC_TASKS
                if sure or name.text in known and (words[1] or said or not whole):
                    yield name


def _list(
    pattern: re.Pattern[str], path: str, line: int, start: int, row: str, at: int
) -> Iterator[Named]:
    """The ids of a list such as `T001, T003-T005 and T007`."""
    while True:
        gap = _BETWEEN.match(row, at)
        at = gap.end() if gap is not None else at
        found = pattern.match(row, at) or (_WHOLE.match(row, at) if pattern is _NUMBERS else None)
        if found is None:
            return
        span = Span(path, line, start + found.start() + 1, line, start + found.end() + 1)
        for name in _range(found[1], found[2]):
            yield Named(name, span)
        at = found.end()


def _range(first: str, last: str | None) -> Iterator[str]:
    if not last or first[-1].isalpha():
        yield first
        return
    begin, end = int(first.lstrip("T")), int(last.lstrip("T"))
    for number in range(begin, min(end, begin + MOST_IN_RANGE) + 1):
        yield f"T{number:0{len(first) - 1}d}"


def _blocked(kind: str, path: str, text: str, items: list[Item]) -> list[Item]:
    """The tasks with what a line such as `T008 blocks T009, T015` adds to them."""
    more: dict[str, list[Named]] = {}
    for first, other in _blocking(kind, path, text):
        more.setdefault(other.text, []).append(first)
    return [item._replace(depends=(*item.depends, *more.get(item.id, ()))) for item in items]


def _blocking(kind: str, path: str, text: str) -> Iterator[tuple[Named, Named]]:
    """The pairs of such lines: the task that blocks, and a task that waits for it."""
    for number, row in enumerate(text.split("\n"), 1) if kind == kinds.SPEC_TASKS else ():
        found = re.match(r"\s*[-*]\s+(T\d{3,}[A-Za-z]?)\s+blocks\s+", row)
        if found is not None:
            span = Span(path, number, found.start(1) + 1, number, found.end(1) + 1)
            for other in _list(_REFERENCES[kind], path, number, 0, row, found.end()):
                yield Named(found[1], span), other


def _absent(kind: str, path: str, text: str, items: list[Item]) -> Iterator[Diagnostic]:
    """Tasks that should wait for another one, and are not in the list."""
    known = {item.id for item in items}
    for first, other in _blocking(kind, path, text):
        if other.text not in known:
            message = f"`{first.text}` blocks `{other.text}`, and this task does not exist"
            help_ = "name one that is there, or take it out"
            yield Diagnostic(other.span, "FDC811", message, help=help_)


def _paths(path: str, box: Box) -> Iterator[Named]:
    for line, start, row in _rows(box):
        for found in _PATH.finditer(row):
            at = start + found.start(1) + 1
            yield Named(found[1], Span(path, line, at, line, at + len(found[1])))


def _project(path: str) -> str:
    """The folder that paths in a plan count from: the one above `specs` or a folder with a dot, else the plan's own root."""
    parts = path.split("/")
    for at, part in enumerate(parts[:-1]):
        if part in ("specs", "openspec") or part.startswith(".") and part not in (".", ".."):
            return "/".join(parts[:at])
    return ""


def _parents(items: list[Item], optional: set[str]) -> list[Diagnostic]:
    """Tasks that are done while one of their parts is not."""
    known = {item.id: item for item in items}
    out = []
    for item in items:
        parent = known.get(item.id.rpartition(".")[0])
        if parent is not None and parent.done and not item.done and item.id not in optional:
            message = f"`{parent.id}` is done, and its part `{item.id}` is not"
            help_ = f"finish `{item.id}`, or open `{parent.id}` again"
            out.append(Diagnostic(parent.span, "FDC814", message, help=help_))
    return out


def _requirements(path: str, text: str, root: str) -> list[Diagnostic]:
    """Requirements that tasks name and that `requirements.md` beside them does not have."""
    beside = os.path.join(root, os.path.dirname(path), "requirements.md")
    try:
        known = set(_REQUIREMENT.findall(regular_file.read(beside).decode("utf-8", "replace")))
    except OSError:
        return []
    out = []
    for number, row in enumerate(text.split("\n"), 1) if known else ():
        for found in _REQUIREMENTS.finditer(row):
            for name in re.finditer(r"(?<![\w.-])(\d+)(?:\.\d+)*(?![\w-])", found[1]):
                if name[1] not in known:
                    at = found.start(1) + name.start() + 1
                    span = Span(path, number, at, number, at + len(name[0]))
                    message = f"names requirement {name[0]}, and requirements.md has no Requirement {name[1]}"
                    out.append(Diagnostic(span, "FDC811", message))
    return out


def _facts(items: list[Item]) -> list[str]:
    left = [item for item in items if not item.done]
    open_ = {item.id for item in left}
    ready = [one.id for one in left if not any(name.text in open_ for name in one.depends)]
    more = f" and {len(ready) - 10} more" if len(ready) > 10 else ""
    begin = [f"Can begin now: {', '.join(ready[:10])}{more}"] if ready else []
    return [f"Tasks: {len(items)}, {len(items) - len(left)} done", *begin]
