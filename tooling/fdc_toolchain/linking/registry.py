"""Reads the plan registry, and reports what is wrong with it (FDC-40).

`knowledge_core/plan_registry.json` is one flat JSON object, logical name to path. Paths are
relative to the workspace and written with `/`. Reading is pure; `agent.audit.registry` changes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from .. import resources
from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from ..named_tuples import NamedTuple
from ..packs.index import index
from ..text.later_regex import later

REGISTRY = "knowledge_core/plan_registry.json"
"""The registry of a workspace."""

SHIPPED = "plans/library/registry.json"
"""The registry of fdc's own plans."""

NAME_RULE = "letters, digits, `.`, `_`, `-`; `/` joins parts that start with a letter or digit; at most 100 characters"
"""What a name may be, in words; `name_fault` checks it."""

_NAME = later(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_DRIVE = re.compile(r"[A-Za-z]:")


class Registry(NamedTuple):
    """Logical names and the paths they stand for; `path` is the registry's own."""

    path: str
    entries: Mapping[str, str] = MappingProxyType({})

    def resolve(self, name: str) -> str | None:
        """The registered path, relative to the workspace, or None where the name is not registered (FDC-41)."""
        return self.entries.get(name)


def read_registry(data: bytes | None, path: str) -> tuple[Registry, list[Diagnostic]]:
    """The registry in these bytes, and every fault in them as FDC325 (FDC-40).

    No file (`data` is None) is an empty registry. A damaged one keeps the entries that are sound,
    so that one bad line does not turn every call into an unknown plan. `path` is for messages.
    """
    if data is None:
        return Registry(path), []
    entries = _sound_entries(data)
    if entries is not None:
        return Registry(path, entries), []
    return _read_with_faults(data, path)


def shipped_registry(more: Mapping[str, str] = MappingProxyType({})) -> Registry:
    """The plans that fdc ships, and those of packs, which take no name of fdc's own; `more`: those of a workspace's packs."""
    own = _own()
    return own._replace(entries={**more, **index().plans, **own.entries})


def core_plans() -> frozenset[str]:
    """The names of fdc's own plans, which no pack may use."""
    return frozenset(_own().entries)


def _own() -> Registry:
    data = resources.read(SHIPPED) if resources.exists(SHIPPED) else None
    return read_registry(data, SHIPPED)[0]


def name_fault(name: str) -> str | None:
    """Why no plan can be registered under this name, or None."""
    if len(name) > 100 or _NAME.fullmatch(name) is None:
        return f"`{shown(name)}` is not a plan name: {NAME_RULE}"
    return None


def path_fault(path: str) -> str | None:
    """Why this text cannot be the path of a registered plan, or None. Looks at the text only."""
    quoted = f"`{shown(path)}`"
    if not path:
        return "the path is empty"
    if not path.isprintable():
        return f"the path {quoted} has a character that cannot be shown"
    if "\\" in path:
        return f"the path {quoted} has a backslash; paths are written with `/`"
    if path.startswith("/") or _DRIVE.match(path):
        return f"the path {quoted} is absolute; expected one relative to the workspace"
    if ".." in path.split("/"):
        return f"the path {quoted} goes up with `..`; expected a place inside the workspace"
    if path.strip() != path or path.endswith("/"):
        return f"the path {quoted} names no file"
    return None


def shown(text: str, most: int = 120) -> str:
    """The text for a message: escapes for what a terminal would not show as itself, a long one without its middle."""
    if len(text) > most:
        text = f"{text[: most // 2]}...{text[-most // 3 :]}"
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def places(data: bytes, path: str) -> dict[str, Span]:
    """Where each registered name stands in the file. Empty for a text that cannot be read."""
    from ..text.json_text import Places, parse

    text = data.decode("utf-8-sig", "replace")
    node, _ = parse(text)
    if node is None or node.kind != "object":
        return {}
    positions = Places(path, text)
    return {
        member.key.value: positions.span(member.key.start, member.key.end)
        for member in reversed(node.value)
    }


def _sound_entries(data: bytes) -> dict[str, str] | None:
    """The entries of a registry without fault, at the speed of the standard parser; else None."""
    import json

    try:
        pairs = json.loads(data.decode("utf-8-sig"), object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return None
    if type(pairs) is not tuple:
        return None
    entries: dict[str, str] = {}
    for name, path in pairs:
        if type(path) is not str or name in entries or _entry_fault(name, path):
            return None
        entries[name] = path
    return entries


def _entry_fault(name: str, path: str) -> str | None:
    if not name.isprintable() or not name:
        return f"the name `{shown(name)}` is empty or has a character that cannot be shown"
    return path_fault(path)


def _read_with_faults(data: bytes, path: str) -> tuple[Registry, list[Diagnostic]]:
    from ..text.json_text import Places, parse

    help_ = "repair the file by hand or restore it; nothing changes it while it is damaged"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        head = data[: wrong.start].decode("utf-8-sig", "replace")
        line, column = head.count("\n") + 1, len(head) - head.rfind("\n")
        span = Span(path, line, column, line, column + 1)
        message = f"the plan registry is damaged: byte 0x{data[wrong.start]:02x} at offset {wrong.start} is not UTF-8"
        return Registry(path), [Diagnostic(span, "FDC325", message, help=help_)]
    node, problems = parse(text)
    positions = Places(path, text)
    findings: list[Diagnostic] = []

    def add(start: int, end: int, message: str, hint: str | None = None) -> None:
        span = positions.span(start, end)
        findings.append(
            Diagnostic(
                span, "FDC325", f"the plan registry is damaged: {message}", help=hint or help_
            )
        )

    for problem in problems:
        add(problem.start, problem.end, problem.message, problem.help)
    entries: dict[str, str] = {}
    if node is not None and node.kind != "object":
        add(
            node.start,
            node.end,
            f"expected an object of names and paths, found {_with_article(node.kind)}",
        )
    elif node is not None:
        for key, value in node.value:
            if value.kind != "string":
                what = f"`{shown(key.value)}` stands for {_with_article(value.kind)}; expected a path in quotes"
                add(value.start, value.end, what)
                continue
            fault = _entry_fault(key.value, value.value)
            if fault:
                add(value.start, value.end, fault)
            else:
                entries.setdefault(key.value, value.value)
    return Registry(path, entries), findings


def _with_article(kind: str) -> str:
    return {"null": "null"}.get(kind, ("an " if kind[0] in "ao" else "a ") + kind)
