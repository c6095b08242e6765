"""Checks a workspace's catalogue: strict JSON, the schema, and rules that a schema cannot express.

Imported only for content that was not found valid before: jsonschema is slow to import.
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
    """Everything that is wrong with the catalogue in `data`, in the order of the text; empty if it is valid."""
    return examined(data, path, shipped, elsewhere)[0]


def examined(
    data: bytes, path: str, shipped: frozenset[str], elsewhere: dict[str, str]
) -> tuple[list[Diagnostic], Rows | None]:
    """Everything that is wrong with the catalogue in `data`, in the order of the text, and the rows that are invalid
    (None: the whole catalogue is).

    `shipped` are the names that no workspace may take, `elsewhere` those that another catalogue
    (the value) has declared.
    """
    text, findings = decode(data, path, _LIMITS)
    if text is None or any(item.severity == "error" for item in findings):
        return findings, None
    places = Places(path, text)
    root, problems = parse(text)
    if root is None or problems:
        findings = [
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
        return findings, None
    document = json.loads(text)
    at = _Finder(root, places)
    wrong = list(_schema_faults(document))
    broken = frozenset(_row_of(keys) for keys, _, _ in wrong)
    if None not in broken:
        tools = {
            name: row for name, row in document["tools"].items() if ("tools", name) not in broken
        }
        more = list(_semantic_faults({**document, "tools": tools}, shipped, elsewhere))
        wrong += more
        broken |= {_row_of(keys) for keys, _, _ in more}
    out = ordered([at.finding(*item) for item in wrong])
    return out, None if None in broken else frozenset(row for row in broken if row is not None)


def _row_of(keys: list[Any]) -> tuple[str, str] | None:
    """The row that a path of keys leads into; None: it is about the catalogue as a whole."""
    return (
        (str(keys[0]), str(keys[1]))
        if len(keys) > 1 and keys[0] in ("tools", "predicates")
        else None
    )


class _Finder:
    """Finds the place of a value by its path from the root: keys of objects, indexes of lists."""

    def __init__(self, root: Node, places: Places) -> None:
        self.root = root
        self.places = places

    def finding(self, keys: list[Any], message: str, help_: str | None = None) -> Diagnostic:
        """A finding at the last key of the path, or at the value where the path ends with a list or is empty."""
        node, key = self.root, None
        for step in keys:
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
"""A fault: path of keys, message, hint."""


def _schema_faults(document: Any) -> Iterator[Wrong]:
    from jsonschema import Draft202012Validator

    schema = json.loads(resources.read("grammar/catalogue.schema.json"))
    for error in Draft202012Validator(schema).iter_errors(document):
        while error.validator == "anyOf" and error.context:
            error = min(error.context, key=lambda item: -len(item.absolute_path))
        keys = list(error.absolute_path)
        name = f"`{'.'.join(str(step) for step in keys)}`" if keys else "the catalogue"
        value = error.instance
        if error.validator == "required":
            for missing in error.validator_value:
                if missing not in value and f"'{missing}'" in error.message:
                    yield keys, f"{name} lacks `{missing}`", None
        elif error.validator == "additionalProperties" and isinstance(
            error.schema.get("properties"), dict
        ):
            known = error.schema["properties"]
            for key in value:
                if key not in known:
                    yield (
                        [*keys, key],
                        f"unknown key `{key}` in {name}",
                        did_you_mean(key, known) or f"the keys are: {', '.join(sorted(known))}",
                    )
        elif error.validator == "propertyNames" or (
            error.parent is None and "propertyNames" in error.absolute_schema_path
        ):
            yield (
                [*keys, value],
                f"`{value}` is not a name for this: expected {error.validator_value}",
                None,
            )
        elif error.validator in ("enum", "const"):
            words = error.validator_value if error.validator == "enum" else [error.validator_value]
            expected = "one of " + ", ".join(map(str, words)) if len(words) > 1 else str(words[0])
            yield (
                keys,
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
                keys,
                f"{name} is {json.dumps(value)[:80]}; expected {' or '.join(_KINDS[kind] for kind in kinds)}",
                None,
            )
        elif error.validator == "pattern":
            yield (
                keys,
                f"{name} is {json.dumps(value)[:80]}; expected a text like {error.validator_value}",
                None,
            )
        else:
            yield keys, f"{name}: {error.message[:200]}", None


def _semantic_faults(
    document: dict[str, Any], shipped: frozenset[str], elsewhere: dict[str, str]
) -> Iterator[Wrong]:
    for name, row in document["tools"].items():
        keys = ["tools", name]
        if name in shipped:
            yield keys, f"`{name}` is a built-in tool; give this one another name", None
        elif name in elsewhere:
            yield (
                keys,
                f"`{name}` is declared in `{elsewhere[name]}` already; give one of the two another name",
                None,
            )
        yield from _parameter_faults(keys, row)
        yield from _type_faults(keys, row)
        for below, message, help_ in own_row.wrong(row):
            yield [*keys, *below], message, help_


def _type_faults(keys: list[Any], row: dict[str, Any]) -> Iterator[Wrong]:
    result = row.get("result")
    kinds = {(*keys, "result"): result} if not isinstance(result, dict) else {
        (*keys, "result", name): kind for name, kind in result.items()
    }  # fmt: skip
    for place, kind in kinds.items():
        if kind is not None:
            try:
                parsed(kind)
            except NoType as wrong:
                yield list(place), str(wrong), None


def _parameter_faults(keys: list[Any], row: dict[str, Any]) -> Iterator[Wrong]:  # noqa: C901
    items = row["parameters"]
    names = [item["name"] for item in items]
    inline = [number for number, item in enumerate(items) if item["kind"] != "block"]
    optional: str | None = None
    for number, item in enumerate(items):
        place = [*keys, "parameters", number, "name"]
        if item["name"] in names[:number]:
            yield place, f"two parameters are called `{item['name']}`", None
        if item["kind"] == "rest" and number != inline[-1]:
            yield (
                place,
                f"`{item['name']}` takes the rest of the line, so nothing on the line can follow it",
                None,
            )
        if item["kind"] == "block" and any(other["kind"] == "block" for other in items[:number]):
            yield place, "a step has one text block, so only one parameter can be it", None
        form = [*keys, "parameters", number, "type"]
        if item["kind"] == "block" and item.get("type") in ("list", "object"):
            yield form, f"`{item['name']}` is a text block, which is text and nothing else", None
        if item.get("type") == "sections" and all(one.get("access") != "edit" for one in items):
            message = "sections change a file, and no parameter names one with the access `edit`"
            yield form, message, None
        if "access" in item and item["kind"] not in ("path", "word"):
            yield (
                [*keys, "parameters", number, "access"],
                f"`{item['name']}` names no file: it is a {item['kind']}",
                None,
            )
        if item["kind"] != "block":
            if item.get("required", True) and optional is not None:
                message = (
                    f"`{item['name']}` is required, and the optional `{optional}` stands before it"
                )
                yield place, message, "required ones come first"
            elif not item.get("required", True):
                optional = item["name"]
    for number, parameter in enumerate(row.get("need_one_of", ())):
        if parameter not in names:
            yield (
                [*keys, "need_one_of", number],
                f"the parameter `{parameter}` does not exist",
                did_you_mean(parameter, names),
            )
    for key in ("repeatable", "creates"):
        if key in row and row["effect"] != "once":
            yield (
                [*keys, key],
                f"`{key}` is for tools that happen once; this one is {row['effect']}, and is repeated anyway",
                None,
            )
    for measure, most in row.get("cost", {}).items():
        if most == LEFT and "run" in row:
            yield (
                [*keys, "cost", measure],
                "`left` is for a tool that runs a plan; a function or a prompt states a number",
                None,
            )
    if row.get("repeatable") and row.get("cost"):
        yield (
            [*keys, "repeatable"],
            "a tool that has a cost cannot be repeated without an approval",
            None,
        )
    for parameter in re.findall(r"\{(\w*)\}", row.get("creates", "")):
        if parameter not in names:
            yield (
                [*keys, "creates"],
                f"the parameter `{parameter}` does not exist",
                did_you_mean(parameter, names),
            )
    for key in ("actions", "refuse"):
        for number, item in enumerate(row.get(key, ())):
            parameter = item["when"]["parameter"]
            if parameter not in names:
                yield (
                    [*keys, key, number, "when", "parameter"],
                    f"the parameter `{parameter}` does not exist",
                    did_you_mean(parameter, names),
                )
