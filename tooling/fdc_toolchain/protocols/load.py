"""Reads protocol sources: every `*.protocol.json` or `.yaml` against its schema, every `*.protocol.md` as prose (FDC-96).

Bytes in, values and findings out. All faults in all sources are found at once, each with its
file, its place and its JSON path.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from typing import Any

from .. import resources
from ..diagnostics.codes import CODES
from ..diagnostics.diagnostic import Diagnostic, Label, ordered
from ..diagnostics.span import Span
from ..named_tuples import NamedTuple
from ..narrow import narrow
from ..text.json_text import CONFLICT, Node, Places, plain
from ..text.yaml_text import parse
from .regions import fence, take

RULES = ".protocol.json"
RULE_FILES = (RULES, ".protocol.yaml", ".protocol.yml")
PROSE = ".protocol.md"
SOURCES = (*RULE_FILES, PROSE)
SCHEMA = "protocols/protocol.schema.json"

_CODE = re.compile(r"FDC[0-9]{3}")
_PATTERNS = {
    "^[a-z0-9-]+$": "has other characters than small letters, digits and dashes",
    "^[A-Za-z0-9_-]+$": "has other characters than letters, digits, dashes and underscores",
    "^FDC[0-9]{3}$": "is not the code of a diagnostic, such as FDC401",
}
_SCOPE = "is not a folder of the repository, written from its top with `/` between: `src/api`"


DEFAULT_PRIORITY = 50
EVERYWHERE = "repository"
"""A scope that is not a folder: the whole repository."""


class Protocol(NamedTuple):
    """One source with rules: its path, its content, and where it names each script as a tool.

    `scope` is the folder that it is for ("" for the whole repository) and `scope_at` its place in the source;
    protocols of higher `priority` come first, so that agents read them even if the file is cut off.
    """

    path: str
    body: dict[str, Any]
    scripts: tuple[tuple[str, Span], ...] = ()
    scope: str = ""
    priority: int = DEFAULT_PRIORITY
    scope_at: Span | None = None


class Prose(NamedTuple):
    """One source of prose, without the empty lines around it; scope and priority are those of its rules."""

    path: str
    text: str
    scope: str = ""
    priority: int = DEFAULT_PRIORITY


class Sources(NamedTuple):
    """All sources, each kind in the order of its paths (FDC-97)."""

    prose: tuple[Prose, ...]
    protocols: tuple[Protocol, ...]


def load(files: Mapping[str, bytes]) -> tuple[Sources, list[Diagnostic]]:
    """The sources among `files` (path to bytes) and what is wrong with them: FDC501, FDC502 and FDC507."""
    findings: list[Diagnostic] = []
    protocols = []
    owners: dict[str, Span] = {}
    for path in sorted(files):
        if path.endswith(SOURCES) and not path.isprintable():
            message = "its name has a character that cannot be shown"
            findings.append(Diagnostic(Span(path, 1, 1, 1, 2), "FDC501", message))
        if path.endswith(RULE_FILES):
            read = _rules(path, files[path], findings)
            if read is not None:
                _unique(*read, owners, findings)
                protocols.append(_protocol(path, *read))
    rules = {_stem(item.path): item for item in protocols}
    prose = []
    for path in sorted(files):
        if path.endswith(PROSE):
            text = _prose(path, files[path], findings)
            pair = rules.get(path.removesuffix(PROSE))
            prose.append(
                Prose(path, text, pair.scope, pair.priority) if pair else Prose(path, text)
            )
    return Sources(tuple(prose), tuple(protocols)), ordered(findings)


def _stem(path: str) -> str:
    return path.rpartition(".protocol.")[0]


def _protocol(path: str, body: dict[str, Any], places: Places, root: Node) -> Protocol:
    at = None
    if "scope" in body:
        node = _at(root, ("scope",))
        at = places.span(node.start, node.end)
    priority = int(body.get("priority", DEFAULT_PRIORITY))
    scope = body.get("scope", "")
    scope, at = ("", None) if scope == EVERYWHERE else (scope, at)
    return Protocol(path, body, _scripts(body, places, root), scope, priority, at)


def _decoded(path: str, data: bytes, findings: list[Diagnostic]) -> str | None:
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        message = f"byte 0x{data[wrong.start]:02x} at offset {wrong.start} is not UTF-8"
        findings.append(Diagnostic(Span(path, line, 1, line, 2), "FDC501", message))
        return None


def _prose(path: str, data: bytes, findings: list[Diagnostic]) -> str:
    text = _decoded(path, data, findings)
    if text is None:
        return ""
    inside, opened = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if not inside and line.startswith("<<<<<<< "):
            findings.append(Diagnostic(Span(path, number, 1, number, 8), "FDC501", CONFLICT))
        open_fence = fence(line, inside)
        inside, opened = open_fence, opened if inside else number
    if inside:
        message = "a code fence that does not end would swallow the protocols after it"
        findings.append(Diagnostic(Span(path, opened, 1, opened, 4), "FDC501", message))
    for number, wrong in take(text).damaged:
        findings.append(Diagnostic(Span(path, number, 1, number, 2), "FDC507", wrong))
    if not text.strip():
        findings.append(Diagnostic(Span(path, 1, 1, 1, 2), "FDC501", "the prose is empty"))
    return text.strip("\n")


def _rules(
    path: str, data: bytes, findings: list[Diagnostic]
) -> tuple[dict[str, Any], Places, Node] | None:
    text = _decoded(path, data, findings)
    if text is None:
        return None
    root, problems = parse(path, text)
    places = Places(path, text)
    for problem in problems:
        span = places.span(problem.start, problem.end)
        findings.append(Diagnostic(span, "FDC501", problem.message, help=problem.help))
    if root is None:
        return None
    if root.kind != "object":
        span = places.span(root.start, root.end)
        findings.append(Diagnostic(span, "FDC501", "expected an object with a `protocol_id`"))
        return None
    body: dict[str, Any] = narrow(plain(root), dict)
    wrong = [*_broken(body), *_unknown_codes(body)]
    for at, message in sorted(wrong, key=lambda row: _json_path(row[0])):
        node = _at(root, at)
        findings.append(
            Diagnostic(places.span(node.start, node.end), "FDC501", f"{_json_path(at)}: {message}")
        )
    return None if wrong or problems else (body, places, root)


def _broken(body: Any) -> list[tuple[tuple[str | int, ...], str]]:
    """Where the body breaks the schema, and how; of several alternatives the best match is explained."""
    from jsonschema.exceptions import best_match

    errors = [
        best_match([error]) if error.context else error for error in _validator().iter_errors(body)
    ]
    return [(tuple(error.absolute_path), _describe(error)) for error in errors]


def _unknown_codes(body: Any) -> list[tuple[tuple[str | int, ...], str]]:
    """Codes in checks that fdc does not have, so that they would enforce nothing (FDC-96)."""
    from ..text.suggest import did_you_mean

    findings: list[tuple[tuple[str | int, ...], str]] = []
    rules = body.get("rules") if isinstance(body, dict) else None
    for number, rule in enumerate(rules if isinstance(rules, list) else []):
        check = rule.get("check") if isinstance(rule, dict) else None
        codes = check.get("code") if isinstance(check, dict) else None
        for code in codes if isinstance(codes, list) else [codes]:
            if isinstance(code, str) and _CODE.fullmatch(code) and code not in CODES:
                hint = did_you_mean(code, CODES)
                message = f"fdc has no `{code}`" + (f"; {hint}" if hint else "")
                findings.append((("rules", number, "check", "code"), message))
    return findings


def _json_path(at: tuple[str | int, ...]) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in at)


def _unique(
    body: dict[str, Any],
    places: Places,
    root: Node,
    owners: dict[str, Span],
    findings: list[Diagnostic],
) -> None:
    """FDC502: a protocol's id is unique among all, a rule's among the rules of its protocol (FDC-80)."""

    def claim(name: str, owners_so_far: dict[str, Span], kind: str, *path: str | int) -> None:
        node = _at(root, path)
        span = places.span(node.start, node.end)
        if name in owners_so_far:
            label = Label(owners_so_far[name], "first used here")
            findings.append(
                Diagnostic(span, "FDC502", f"another {kind} has the id `{name}`", labels=(label,))
            )
        owners_so_far.setdefault(name, span)

    claim(body["protocol_id"], owners, "protocol", "protocol_id")
    rules: dict[str, Span] = {}
    for number, rule in enumerate(body["rules"]):
        claim(rule["rule_id"], rules, "rule", "rules", number, "rule_id")


def _scripts(body: dict[str, Any], places: Places, root: Node) -> tuple[tuple[str, Span], ...]:
    scripts = []
    for number, name in enumerate(body.get("associated_tools", [])):
        if name.endswith(".py"):
            node = _at(root, ("associated_tools", number))
            scripts.append((name, places.span(node.start, node.end)))
    return tuple(scripts)


def _at(node: Node, path: tuple[str | int, ...]) -> Node:
    for part in path:
        if isinstance(part, int):
            node = node.value[part]
        else:
            node = next(member.value for member in node.value if member.key.value == part)
    return node


def _describe(error: Any) -> str:
    """An error of jsonschema as a message of fdc, for the kinds that occur in protocols."""
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return "missing " + ", ".join(f"`{key}`" for key in missing)
    if error.validator == "type":
        kinds = {
            dict: "an object",
            list: "an array",
            str: "a string",
            bool: "a boolean",
            type(None): "null",
        }
        expected = {
            "object": "an object",
            "array": "an array",
            "string": "a string",
            "integer": "a whole number",
        }
        want = expected.get(error.validator_value, error.validator_value)
        return f"expected {want}, found {kinds.get(type(error.instance), 'a number')}"
    if error.validator == "pattern":
        return f"`{error.instance}` {_PATTERNS.get(error.validator_value, _SCOPE)}"
    if error.validator in ("minLength", "minItems"):
        return "is empty"
    if error.validator == "uniqueItems":
        return "names something twice"
    if error.validator in ("minimum", "maximum"):
        return f"{error.instance} is not between {error.schema['minimum']} and {error.schema['maximum']}"
    if error.validator == "enum":
        from ..text.suggest import did_you_mean

        hint = did_you_mean(str(error.instance), error.validator_value)
        return f"`{error.instance}` is none of {', '.join(error.validator_value)}" + (
            f"; {hint}" if hint else ""
        )
    if error.validator == "additionalProperties":
        extra = sorted(set(error.instance) - set(error.schema.get("properties", ())))
        return "does not know " + ", ".join(f"`{key}`" for key in extra)
    if error.validator in ("oneOf", "anyOf") and error.path and error.path[-1] == "check":
        return "expected `code` with the codes that enforce the rule, or `template` and `a` for a check of its own"
    return str(error.message)


@functools.cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(resources.read(SCHEMA)))
