"""What changed between two sets of protocols: rules and their fields, checks and what they are worth, tools, prose.

Order of files, spacing, documentation that a build added and the status of rules that it wrote do not count.
Texts in, differences out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import Any, NamedTuple

from ...diagnostics.diagnostic import Diagnostic, ordered
from ...diagnostics.span import Span
from ..load import PROSE, RULE_FILES, load
from ..render import bare, unmarked
from .strength import compare

LISTS = ("associated_tools", "associated_artifacts", "tags")
"""Fields that are sets of names: each name comes and goes on its own."""

_NO_DIFFERENCE = ("$schema", "rules", "rule_id", "protocol_id")


class Difference(NamedTuple):
    """One difference. `what` is added, removed, changed or reordered; `effect` what it does to a check, else "".

    `rule` is "" where the protocol itself is meant, `field` where all of it. Without a `protocol` it is a
    section of prose, by its `field`.
    """

    what: str
    protocol: str
    rule: str
    field: str
    one: Any
    other: Any
    effect: str = ""

    def plain(self) -> dict[str, Any]:
        """As JSON has it; what does not apply is null."""
        return {key: None if value == "" and key in ("protocol", "rule", "field", "effect") else value
                for key, value in self._asdict().items()}  # fmt: skip


class Side(NamedTuple):
    """One set of protocols: the JSON by id, and sections of prose by the name of their file."""

    protocols: Mapping[str, dict[str, Any]]
    prose: Mapping[str, str]


def side(files: Mapping[str, bytes]) -> tuple[Side, list[Diagnostic]]:
    """The set that the sources in `files` (path to bytes) are, and FDC501 and FDC502 for what cannot be read."""
    sources, found = load({path: data for path, data in files.items() if path.endswith(RULE_FILES)})
    prose = {}
    for path, data in sorted(files.items()):
        if path.endswith(PROSE):
            try:
                prose[path] = data.decode("utf-8-sig").replace("\r\n", "\n").strip()
            except UnicodeDecodeError as wrong:
                line = data.count(b"\n", 0, wrong.start) + 1
                message = f"byte 0x{data[wrong.start]:02x} at offset {wrong.start} is not UTF-8"
                found.append(Diagnostic(Span(path, line, 1, line, 2), "FDC501", message))
    return Side(
        {item.body["protocol_id"]: item.body for item in sources.protocols}, prose
    ), ordered(found)


def differences(one: Side, other: Side) -> list[Difference]:
    """Every difference: protocols in the order of their ids, their rules in their own order, then prose."""
    found: list[Difference] = []
    for name in sorted({*one.protocols, *other.protocols}):
        before, after = one.protocols.get(name), other.protocols.get(name)
        if before is None or after is None:
            found.append(_whole(name, "", before, after))
            for rule in (before or after or {})["rules"]:
                found.append(_whole(name, rule["rule_id"], before and rule, after and rule))
        else:
            found += _fields(name, "", before, after)
            found += _rules(name, before, after)
    return [*found, *_sections(one.prose, other.prose)]


def lines(before: str, after: str) -> list[str]:
    """The lines that are only in one of the texts, with `-` or `+` in front."""
    rows = [*unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=0)][2:]
    return [row for row in rows if not row.startswith("@@")]


def _whole(protocol: str, rule: str, one: Any, other: Any) -> Difference:
    """A protocol or a rule that is on one side only."""
    effect = compare(one and one.get("check"), other and other.get("check")) if rule else ""
    what = "added" if one is None else "removed"
    return Difference(
        what, protocol, rule, "", one, other, effect if effect != "equivalent" else ""
    )


def _rules(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Difference]:
    before, after = ({rule["rule_id"]: rule for rule in body["rules"]} for body in (one, other))
    for rule in [*before, *(rule for rule in after if rule not in before)]:
        if rule in before and rule in after:
            yield from _fields(name, rule, before[rule], after[rule])
        else:
            yield _whole(name, rule, before.get(rule), after.get(rule))
    orders = [rule for rule in before if rule in after], [rule for rule in after if rule in before]
    if orders[0] != orders[1]:
        yield Difference("reordered", name, "", "rules", *orders)


def _fields(
    protocol: str, rule: str, one: Mapping[str, Any], other: Mapping[str, Any]
) -> Iterator[Difference]:
    for field in [*one, *(key for key in other if key not in one)]:
        before, after = (_meant(field, body, bool(rule)) for body in (one, other))
        if field in _NO_DIFFERENCE or before == after:
            continue
        if field in LISTS:
            for item in [*before, *(item for item in after if item not in before)]:
                if item not in before or item not in after:
                    sides = (item if item in before else None), (item if item in after else None)
                    yield Difference(
                        "added" if item in after else "removed", protocol, rule, field, *sides
                    )
            continue
        what = "added" if before is None else "removed" if after is None else "changed"
        effect = compare(before, after) if field == "check" and rule else ""
        yield Difference(what, protocol, rule, field, before, after, effect)


def _meant(field: str, body: Mapping[str, Any], in_rule: bool) -> Any:
    """What the field says, without what a build added to it."""
    value = body.get(field)
    if field in LISTS:
        return value or []
    if field == "enforcement" and in_rule:
        return None if value is None else unmarked(value)
    if field == "description" and not in_rule:
        return bare(value or "") or value
    return value


def _sections(one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[Difference]:
    """Sections are the same where their texts are; else those of one file's name, then of one heading, belong together."""
    before, after = _without(one, [*other.values()]), _without(other, [*one.values()])
    pairs: list[tuple[str, str | None, str | None]] = []
    for key in (lambda name, text: name, lambda name, text: title(text)):
        for name in [*before]:
            match = next(
                (it for it in after if key(it, after[it]) == key(name, before[name])), None
            )
            if match is not None:
                pairs.append((title(after[match]), before.pop(name), after.pop(match)))
    pairs += [(title(text), text, None) for text in before.values()] + [
        (title(text), None, text) for text in after.values()
    ]
    for heading, old, new in pairs:
        what = "added" if old is None else "removed" if new is None else "changed"
        yield Difference(what, "", "", heading, old, new)


def _without(texts: Mapping[str, str], others: list[str]) -> dict[str, str]:
    """The sections whose text is not among the others; of equal ones as many stay as there are too many."""
    left: dict[str, str] = {}
    for name, text in texts.items():
        if text in others:
            others.remove(text)
        else:
            left[name] = text
    return left


def title(text: str) -> str:
    """A section's first heading, else its first line."""
    rows: Sequence[str] = [row.strip() for row in text.split("\n") if row.strip()]
    return next(
        (row.lstrip("#").strip() for row in rows if row.startswith("#") and row.strip("# ")),
        rows[0] if rows else "",
    )
