"""Compares two sets of protocols: rules and their fields, checks and their strength, tools, prose.

Order of files, spacing, documentation that a build added and the status of rules that it wrote do not count.
Texts in, differences out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import Any

from ...diagnostics.diagnostic import Diagnostic, ordered
from ...diagnostics.span import Span
from ...named_tuples import NamedTuple
from ..load import PROSE, RULE_FILES, load
from ..render import bare, unmarked
from .strength import compare

LISTS = ("associated_tools", "associated_artifacts", "tags")
"""Fields that are sets of names: each name is compared on its own."""

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

    def plain(self) -> dict[str, object]:
        """The difference as JSON; what does not apply is null."""
        return {key: None if value == "" and key in ("protocol", "rule", "field", "effect") else value
                for key, value in self._asdict().items()}  # fmt: skip


class Side(NamedTuple):
    """One set of protocols: the JSON by id, and sections of prose by the name of their file."""

    protocols: Mapping[str, dict[str, Any]]
    prose: Mapping[str, str]


def side(files: Mapping[str, bytes]) -> tuple[Side, list[Diagnostic]]:
    """The set of protocols in `files` (path to bytes), and FDC501 and FDC502 for what cannot be read."""
    sources, findings = load(
        {path: data for path, data in files.items() if path.endswith(RULE_FILES)}
    )
    prose = {}
    for path, data in sorted(files.items()):
        if path.endswith(PROSE):
            try:
                prose[path] = data.decode("utf-8-sig").replace("\r\n", "\n").strip()
            except UnicodeDecodeError as wrong:
                line = data.count(b"\n", 0, wrong.start) + 1
                message = f"byte 0x{data[wrong.start]:02x} at offset {wrong.start} is not UTF-8"
                findings.append(Diagnostic(Span(path, line, 1, line, 2), "FDC501", message))
    return Side(
        {item.body["protocol_id"]: item.body for item in sources.protocols}, prose
    ), ordered(findings)


def differences(old: Side, new: Side) -> list[Difference]:
    """Every difference: protocols in the order of their ids, their rules in their own order, then prose."""
    differing: list[Difference] = []
    for name in sorted({*old.protocols, *new.protocols}):
        before, after = old.protocols.get(name), new.protocols.get(name)
        if before is None or after is None:
            differing.append(_one_sided(name, "", before, after))
            for rule in (before or after or {})["rules"]:
                differing.append(_one_sided(name, rule["rule_id"], before and rule, after and rule))
        else:
            differing += _fields(name, "", before, after)
            differing += _rules(name, before, after)
    return [*differing, *_sections(old.prose, new.prose)]


def lines(before: str, after: str) -> list[str]:
    """The lines that are only in one of the texts, with `-` or `+` in front."""
    rows = [*unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=0)][2:]
    return [row for row in rows if not row.startswith("@@")]


def _one_sided(protocol: str, rule: str, old: Any, new: Any) -> Difference:
    """A protocol or a rule that is on one side only."""
    effect = compare(old and old.get("check"), new and new.get("check")) if rule else ""
    kind = "added" if old is None else "removed"
    return Difference(kind, protocol, rule, "", old, new, effect if effect != "equivalent" else "")


def _rules(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    before, after = ({rule["rule_id"]: rule for rule in body["rules"]} for body in (old, new))
    for rule in [*before, *(rule for rule in after if rule not in before)]:
        if rule in before and rule in after:
            yield from _fields(name, rule, before[rule], after[rule])
        else:
            yield _one_sided(name, rule, before.get(rule), after.get(rule))
    orders = [rule for rule in before if rule in after], [rule for rule in after if rule in before]
    if orders[0] != orders[1]:
        yield Difference("reordered", name, "", "rules", *orders)


def _fields(
    protocol: str, rule: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[Difference]:
    for field in [*old, *(key for key in new if key not in old)]:
        before, after = (_compared_value(field, body, bool(rule)) for body in (old, new))
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
        kind = "added" if before is None else "removed" if after is None else "changed"
        effect = compare(before, after) if field == "check" and rule else ""
        yield Difference(kind, protocol, rule, field, before, after, effect)


def _compared_value(field: str, body: Mapping[str, Any], in_rule: bool) -> Any:
    """The value of a field, without what a build added to it."""
    value = body.get(field)
    if field in LISTS:
        return value or []
    if field == "enforcement" and in_rule:
        return None if value is None else unmarked(value)
    if field == "description" and not in_rule:
        return bare(value or "") or value
    return value


def _sections(old_texts: Mapping[str, str], new_texts: Mapping[str, str]) -> Iterator[Difference]:
    """Pairs sections with equal texts; then those with the same file name, then those with the same heading."""
    before, after = (
        _without(old_texts, [*new_texts.values()]),
        _without(new_texts, [*old_texts.values()]),
    )
    pairs: list[tuple[str, str | None, str | None]] = []
    for key in (lambda name, text: name, lambda name, text: title(text)):
        for name in [*before]:
            match = next(
                (
                    candidate
                    for candidate in after
                    if key(candidate, after[candidate]) == key(name, before[name])
                ),
                None,
            )
            if match is not None:
                pairs.append((title(after[match]), before.pop(name), after.pop(match)))
    pairs += [(title(text), text, None) for text in before.values()] + [
        (title(text), None, text) for text in after.values()
    ]
    for heading, old, new in pairs:
        kind = "added" if old is None else "removed" if new is None else "changed"
        yield Difference(kind, "", "", heading, old, new)


def _without(texts: Mapping[str, str], others: list[str]) -> dict[str, str]:
    """The sections whose text is not among the others; each of the others removes one equal section."""
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
