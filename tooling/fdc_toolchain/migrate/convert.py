"""Plans of older notations to the language: what is certain is changed and said, the rest refused with its place."""

from __future__ import annotations

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.source import Limits, decode
from ..linking.catalogue import Catalogue
from ..syntax.parse import parse
from ..syntax.write import canonical
from . import blocks, dialect, lines
from .model import Draft, Migration, Numbered, Refused, Tools, Unknown


def migrate(data: bytes, path: str, catalogue: Catalogue, limits: Limits) -> Migration:
    """The plan in the language, or why not. A plan that is in it already comes back as it is, without changes.

    The new text reads without errors; whether it proves is the linter's to say. Line ends are kept.
    """
    text, found = decode(data, path, limits)
    errors = [item for item in found if item.severity == "error"]
    if text is None or errors:
        return Migration("", None, (), tuple(errors or found))
    tools = catalogue.tools
    notation = dialect.detect(text, tools)
    if notation == dialect.LANGUAGE:
        return Migration(notation, data, (), ())
    draft = Draft()
    if len(data) >= 3 and data.startswith(b"\xef\xbb\xbf"):
        draft.say(1, "the byte order mark is gone")
    try:
        new = _converted(draft, dialect.numbered(text), notation, tools)
    except Refused as refusal:
        plain = isinstance(refusal, Unknown) and notation == dialect.LINES
        if plain and not draft.changes and not _errors(data, path, limits):
            return Migration(dialect.LANGUAGE, data, (), ())  # a tool that is unknown is lint's
        return Migration(notation, None, (), (refusal.diagnostic(path),))
    return _finished(draft, new, data, path, notation, limits)


def _converted(draft: Draft, old: list[Numbered], notation: str, tools: Tools) -> str:
    head, old = _head(draft, old)
    plain = notation == dialect.COLON and not any(text.rstrip() == "---" for _, text in old)
    if plain or notation in (dialect.LINES, dialect.MIXED, dialect.PROSE):
        lines.convert(draft, old, tools)
    else:
        blocks.convert(draft, old, notation, tools)
    for name, line in draft.params.items():
        draft.say(line, f"`param {name}` declares it")
    steps = (at for at, text in enumerate(draft.lines) if text and not text.startswith("#"))
    first = next(steps, len(draft.lines))
    while first and draft.lines[first - 1].startswith("#"):
        first -= 1
    headers = [f"param {name}" for name in draft.params]
    body = draft.lines[:first] + headers + [""] * bool(headers) + draft.lines[first:]
    return "".join(line + "\n" for line in head + body)


def _head(draft: Draft, old: list[Numbered]) -> tuple[list[str], list[Numbered]]:
    """The `# FSM:` line and the `# META` header as the first lines, and the rest. Raises Refused for two automata."""
    found: list[tuple[Numbered, str]] = []
    top = next((number for number, text in old if text.strip()), 1)
    meta: list[str] = []
    rest: list[Numbered] = []
    begun = inside = False
    for number, text in old:
        begun = begun or not (text.startswith("#") or not text.strip())
        name = None if begun else dialect.automaton(text)
        if name is not None:
            found.append(((number, text), name))
            continue
        if not begun and text.strip() == "# META":
            draft.say(number, "the `# META` header is a comment")
            inside = True
        if inside and not begun and text.strip():
            meta.append(text.strip())
            inside = text.strip() != "# END META"
            continue
        rest.append((number, text))
    if not found:
        return meta, rest
    for line, name in found[1:]:
        if name != found[0][1]:
            message = f"a second automaton, `{name}`; line {found[0][0][0]} names `{found[0][1]}`"
            raise Refused(*line, message, "keep one of them")
        draft.say(line[0], "the second `# FSM:` line is gone")
    number = found[0][0][0]
    if number != top:
        draft.say(number, "`# FSM:` moved to the first line")
    return [f"# FSM: {found[0][1]}", *meta], rest


def _finished(
    draft: Draft, new: str, data: bytes, path: str, notation: str, limits: Limits
) -> Migration:
    if data[: data.find(b"\n") + 1].endswith(b"\r\n"):
        new = new.replace("\n", "\r\n")
    changes = tuple(sorted(draft.changes, key=lambda change: change.line))
    if not changes:
        errors = _errors(data, path, limits)
        same = Migration(dialect.LANGUAGE, data, (), ())
        return Migration(notation, None, (), errors) if errors else same
    text, found = canonical(new.encode("utf-8"), path, limits)
    if text is None:
        old = _errors(data, path, limits)
        errors = tuple(item for item in found if item.severity == "error")
        return Migration(notation, None, (), old if notation == dialect.LINES and old else errors)
    return Migration(notation, text, changes, ())


def _errors(data: bytes, path: str, limits: Limits) -> tuple[Diagnostic, ...]:
    return tuple(item for item in parse(data, path, limits).diagnostics if item.severity == "error")
