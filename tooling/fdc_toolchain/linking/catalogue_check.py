"""Is a workspace's catalogue one? Strict JSON, the schema, and what a schema cannot say; every finding at its place.

Loaded only for a catalogue whose content was not found right before: jsonschema is slow to import.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .. import resources
from ..diagnostics.diagnostic import Diagnostic, Label, ordered
from ..diagnostics.source import Limits, decode
from ..program.model import LEFT
from ..text.json_text import Node, Places, parse
from ..text.suggest import did_you_mean
from . import own_row
from .types import NoType, parsed

_LIMITS = Limits(line_characters=Limits().file_bytes)  # a machine may write it in one line

_KINDS = {
    "object": "an object", "array": "a list", "string": "a text", "number": "a number", "integer": "a whole number",
    "boolean": "true or false", "null": "null",
}  # fmt: skip


Rows = frozenset[tuple[str, str]]
"""Rows of a catalogue: (`tools` or `predicates`, the name)."""


def explain(
    data: bytes, path: str, shipped: frozenset[str], elsewhere: dict[str, str]
) -> list[Diagnostic]:
    """Everything that is wrong with the catalogue in `data`, in the order of the text; nothing, where it can be used."""
    return examined(data, path, shipped, elsewhere)[0]


def examined(
    data: bytes, path: str, shipped: frozenset[str], elsewhere: dict[str, str]
) -> tuple[list[Diagnostic], Rows | None]:
    """Everything that is wrong with the catalogue in `data`, in the order of the text, and the rows that cannot be used for
    that; None where none of it can.

    `shipped` are the names that no workspace may take, `elsewhere` those that another catalogue
    (the value) has declared.
    """
    text, found = decode(data, path, _LIMITS)
    if text is None or any(item.severity == "error" for item in found):
        return found, None
    places = Places(path, text)
    root, problems = parse(text)
    if root is None or problems:
        found = [
            Diagnostic(
                places.span(problem.start, problem.end),
                "FDC308",
                f"the catalogue is not JSON: {problem.message}",
                (Label(places.span(problem.earlier.start, problem.earlier.end), "first here"),)
                if problem.earlier
                else (),
                help=problem.help,
            )
            for problem in problems
        ]
        return found, None
    document = json.loads(text)
    at = _Finder(root, places)
    wrong = list(_schema(document))
    broken = frozenset(_row(way) for way, _, _ in wrong)
    if None not in broken:
        tools = {
            name: row for name, row in document["tools"].items() if ("tools", name) not in broken
        }
        more = list(_meaning({**document, "tools": tools}, shipped, elsewhere))
        wrong += more
        broken |= {_row(way) for way, _, _ in more}
    out = ordered([at.finding(*item) for item in wrong])
    return out, None if None in broken else frozenset(row for row in broken if row is not None)


def _row(way: list[Any]) -> tuple[str, str] | None:
    """The row that a way leads into; None: it is about the catalogue as a whole."""
    return (
        (str(way[0]), str(way[1])) if len(way) > 1 and way[0] in ("tools", "predicates") else None
    )


class _Finder:
    """Places by the way from the root: keys of objects, numbers of lists."""

    def __init__(self, root: Node, places: Places) -> None:
        self.root = root
        self.places = places

    def finding(self, way: list[Any], message: str, help_: str | None = None) -> Diagnostic:
        """At the key that the way ends with, or at the value where a list or nothing does."""
        node, key = self.root, None
        for step in way:
            key = None
            if node.kind == "object":
                member = next((member for member in node.value if member.key.value == step), None)
                if member is None:
                    break
                node, key = member.value, member.key
            else:
                node = node.value[step]
        shown = key or (
            node if node.kind not in ("object", "array") else node._replace(end=node.start + 1)
        )
        return Diagnostic(self.places.span(shown.start, shown.end), "FDC308", message, help=help_)


Wrong = tuple[list[Any], str, str | None]
"""Where, what, and what to do."""


def _schema(document: Any) -> Iterator[Wrong]:
    from jsonschema import Draft202012Validator

    schema = json.loads(resources.read("grammar/catalogue.schema.json"))
    for error in Draft202012Validator(schema).iter_errors(document):
        while error.validator == "anyOf" and error.context:
            error = min(error.context, key=lambda item: -len(item.absolute_path))
        way = list(error.absolute_path)
        name = f"`{'.'.join(str(step) for step in way)}`" if way else "the catalogue"
        value = error.instance
        if error.validator == "required":
            for missing in error.validator_value:
                if missing not in value and f"'{missing}'" in error.message:
                    yield way, f"{name} lacks `{missing}`", None
        elif error.validator == "additionalProperties" and isinstance(
            error.schema.get("properties"), dict
        ):
            known = error.schema["properties"]
            for key in value:
                if key not in known:
                    yield (
                        [*way, key],
                        f"{name} has no `{key}`",
                        did_you_mean(key, known) or f"it has {', '.join(sorted(known))}",
                    )
        elif error.validator == "propertyNames" or (
            error.parent is None and "propertyNames" in error.absolute_schema_path
        ):
            yield (
                [*way, value],
                f"`{value}` is not a name for this: expected {error.validator_value}",
                None,
            )
        elif error.validator in ("enum", "const"):
            words = error.validator_value if error.validator == "enum" else [error.validator_value]
            expected = "one of " + ", ".join(map(str, words)) if len(words) > 1 else str(words[0])
            yield (
                way,
                f"{name} is {json.dumps(value)[:80]}; expected {expected}",
                did_you_mean(str(value), map(str, words)),
            )
        elif error.validator == "type":
            kinds = (
                error.validator_value
                if isinstance(error.validator_value, list)
                else [error.validator_value]
            )
            yield (
                way,
                f"{name} is {json.dumps(value)[:80]}; expected {' or '.join(_KINDS[kind] for kind in kinds)}",
                None,
            )
        elif error.validator == "pattern":
            yield (
                way,
                f"{name} is {json.dumps(value)[:80]}; expected a text like {error.validator_value}",
                None,
            )
        else:
            yield way, f"{name}: {error.message[:200]}", None


def _meaning(
    document: dict[str, Any], shipped: frozenset[str], elsewhere: dict[str, str]
) -> Iterator[Wrong]:
    for name, row in document["tools"].items():
        way = ["tools", name]
        if name in shipped:
            yield way, f"`{name}` is a built-in tool; give this one another name", None
        elif name in elsewhere:
            yield (
                way,
                f"`{name}` is declared in `{elsewhere[name]}` already; give one of the two another name",
                None,
            )
        yield from _parameters(way, row)
        yield from _types(way, row)
        for below, message, help_ in own_row.wrong(row):
            yield [*way, *below], message, help_


def _types(way: list[Any], row: dict[str, Any]) -> Iterator[Wrong]:
    result = row.get("result")
    kinds = {(*way, "result"): result} if not isinstance(result, dict) else {
        (*way, "result", name): kind for name, kind in result.items()
    }  # fmt: skip
    for here, kind in kinds.items():
        if kind is not None:
            try:
                parsed(kind)
            except NoType as wrong:
                yield list(here), str(wrong), None


def _parameters(way: list[Any], row: dict[str, Any]) -> Iterator[Wrong]:  # noqa: C901
    items = row["parameters"]
    names = [item["name"] for item in items]
    inline = [number for number, item in enumerate(items) if item["kind"] != "block"]
    optional: str | None = None
    for number, item in enumerate(items):
        here = [*way, "parameters", number, "name"]
        if item["name"] in names[:number]:
            yield here, f"two parameters are called `{item['name']}`", None
        if item["kind"] == "rest" and number != inline[-1]:
            yield (
                here,
                f"`{item['name']}` takes the rest of the line, so nothing on the line can follow it",
                None,
            )
        if item["kind"] == "block" and any(other["kind"] == "block" for other in items[:number]):
            yield here, "a step has one text block, so only one parameter can be it", None
        if "access" in item and item["kind"] not in ("path", "word"):
            yield (
                [*way, "parameters", number, "access"],
                f"`{item['name']}` names no file: it is a {item['kind']}",
                None,
            )
        if item["kind"] != "block":
            if item.get("required", True) and optional is not None:
                message = (
                    f"`{item['name']}` is required, and the optional `{optional}` stands before it"
                )
                yield here, message, "required ones come first"
            elif not item.get("required", True):
                optional = item["name"]
    for number, wanted in enumerate(row.get("need_one_of", ())):
        if wanted not in names:
            yield (
                [*way, "need_one_of", number],
                f"the parameter `{wanted}` does not exist",
                did_you_mean(wanted, names),
            )
    for key in ("repeatable", "creates"):
        if key in row and row["effect"] != "once":
            yield (
                [*way, key],
                f"`{key}` is for tools that happen once; this one is {row['effect']}, and is repeated anyway",
                None,
            )
    for measure, most in row.get("cost", {}).items():
        if most == LEFT and "run" in row:
            yield (
                [*way, "cost", measure],
                "`left` is for a tool that runs a plan; a function or a prompt states a number",
                None,
            )
    if "repeatable" in row and row.get("cost"):
        yield (
            [*way, "repeatable"],
            "a tool that has a cost cannot be repeated without anybody's word",
            None,
        )
    for wanted in re.findall(r"\{(\w*)\}", row.get("creates", "")):
        if wanted not in names:
            yield (
                [*way, "creates"],
                f"the parameter `{wanted}` does not exist",
                did_you_mean(wanted, names),
            )
    for key in ("actions", "refuse"):
        for number, item in enumerate(row.get(key, ())):
            wanted = item["when"]["parameter"]
            if wanted not in names:
                yield (
                    [*way, key, number, "when", "parameter"],
                    f"the parameter `{wanted}` does not exist",
                    did_you_mean(wanted, names),
                )
