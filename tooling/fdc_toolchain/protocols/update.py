"""Changes one field of one protocol source: bytes in, bytes out, everything else as it was (FDC-78 to FDC-80, FDC-76).

The file is edited where the field stands, so its formatting and all keys that we do not know survive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from ..diagnostics.diagnostic import Diagnostic
from ..named_tuples import NamedTuple
from ..report.terminal.terminal_text import visible
from ..text.json_text import Member, Node
from ..text.suggest import did_you_mean
from ..text.yaml_text import ENDS, parse
from .load import RULE_FILES, load

MAX_DESCRIPTION = 2_000
"""Characters of a rule's description: AGENTS.md has 32 KiB for all of them."""

_TOOL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*")
_BREAKS = ("```", "~~~", "<!--", "-->")
_BOM = b"\xef\xbb\xbf"


class Edit(NamedTuple):
    """A change of the file at `path`: its bytes afterwards, which are those of before where nothing is to be done."""

    path: str
    before: bytes
    after: bytes
    message: str


class Refusal(NamedTuple):
    """Why nothing was changed, with the findings about sources."""

    message: str
    findings: tuple[Diagnostic, ...] = ()


def edit(files: Mapping[str, bytes], command: str, parameters: Mapping[str, str]) -> Edit | Refusal:
    """The edit that `add-tool`, `update-rule` or `deprecate-tool` makes to the sources in `files` (path to bytes). Pure.

    Refused: no protocol of that id, or two (FDC-80); no rule of that id (FDC-79); a name or a text that AGENTS.md
    could not carry; a source that is invalid, before or after the change.
    """
    protocol = parameters["protocol_id"]
    fault = _fault(command, parameters)
    if fault:
        return Refusal(fault)
    owners, ids = _owners(files, protocol)
    if not owners:
        hint = did_you_mean(protocol, ids)
        return Refusal(
            f"no protocol with the id '{protocol[:80]}' was found" + (f"; {hint}" if hint else "")
        )
    if len(owners) > 1:
        return Refusal(
            f"{len(owners)} files have the protocol id '{protocol}': {', '.join(owners)}; nothing was changed"
        )
    path = owners[0]
    if path.endswith(ENDS):
        return Refusal(f"{path} is YAML, which fdc reads and does not write: change it by hand")
    wrong = _errors(files, path)
    if wrong:
        return Refusal(f"the source {path} is not valid as it is, and was left untouched", wrong)
    edited = _edited(files[path], command, parameters)
    if isinstance(edited, Refusal):
        return edited
    after, message = edited
    wrong = _errors({**files, path: after}, path)
    if wrong:
        return Refusal(f"the change would make {path} invalid, and was not made", wrong)
    return Edit(path, files[path], after, message)


def _fault(command: str, parameters: Mapping[str, str]) -> str | None:
    if command == "update-rule":
        text = parameters["description"]
        if not text.strip() or len(text) > MAX_DESCRIPTION:
            return f"a rule's description has 1 to {MAX_DESCRIPTION} characters; this one has {len(text.strip())}"
        if visible(text) != text:
            return "the description has a line break or a hidden character; it must be one line that people can see whole"
        mark = next((mark for mark in _BREAKS if mark in text), None)
        return f"the description has `{mark}`, which could break AGENTS.md apart" if mark else None
    tool = parameters["tool_name"]
    if len(tool) > 200 or _TOOL.fullmatch(tool) is None or ".." in tool:
        form = "letters, digits and `._+-`, with `/` between the parts of a path in the workspace"
        return f"'{visible(tool[:80])}' is not a tool's name: {form}"
    return None


def _owners(files: Mapping[str, bytes], protocol: str) -> tuple[list[str], list[str]]:
    """The sources with this id, and all ids; sources that cannot be read have none."""
    owners, ids = [], []
    for path in sorted(files):
        if path.endswith(RULE_FILES):
            root = _root(path, files[path])
            name = None if root is None else _member(root, "protocol_id")
            if name is not None and name.value.kind == "string":
                ids.append(name.value.value)
                owners += [path] * (name.value.value == protocol)
    return owners, ids


def _errors(files: Mapping[str, bytes], path: str) -> tuple[Diagnostic, ...]:
    return tuple(
        item for item in load(files)[1] if item.severity == "error" and item.span.path == path
    )


def _edited(
    data: bytes, command: str, parameters: Mapping[str, str]
) -> tuple[bytes, str] | Refusal:
    text = data.decode("utf-8-sig")
    root = _root(".json", data)
    assert root is not None  # `_errors` has read it
    protocol = parameters["protocol_id"]
    if command == "update-rule":
        rule, description = parameters["rule_id"], parameters["description"]
        node = _rule(root, rule)
        if isinstance(node, Refusal):
            return Refusal(f"the protocol '{protocol}' has {node.message}")
        if node.value == description:
            return (
                data,
                f"Rule '{rule}' in protocol '{protocol}' already has this description. No changes made.",
            )
        text = text[: node.start] + _string(description) + text[node.end :]
        message = f"Successfully updated rule '{rule}' in protocol '{protocol}'."
    else:
        tool = parameters["tool_name"]
        listed = _member(root, "associated_tools")
        names = [] if listed is None else [item.value for item in listed.value.value]
        if command == "add-tool":
            if tool in names:
                return (
                    data,
                    f"Tool '{tool}' already exists in protocol '{protocol}'. No changes made.",
                )
            text = _added(text, root, listed, tool)
            message = f"Successfully added tool '{tool}' to protocol '{protocol}'."
        else:
            if listed is None or tool not in names:
                hint = did_you_mean(tool, names)
                more = f" ({hint})" if hint else ""
                return (
                    data,
                    f"Tool '{tool}' is not in protocol '{protocol}'{more}. No changes made.",
                )
            text = _removed(text, listed.value, names.index(tool))
            message = f"Successfully deprecated tool '{tool}' in protocol '{protocol}'."
    return (_BOM if data.startswith(_BOM) else b"") + text.encode("utf-8"), message


def _rule(root: Node, rule: str) -> Node | Refusal:
    """The description of a rule."""
    rules = _member(root, "rules")
    ids = []
    for node in () if rules is None else rules.value.value:
        name, text = _member(node, "rule_id"), _member(node, "description")
        if name is not None and text is not None:
            if name.value.value == rule:
                return text.value
            ids.append(name.value.value)
    hint = did_you_mean(rule, ids)
    return Refusal(f"no rule '{rule[:80]}'" + (f"; {hint}" if hint else ""))


def _added(text: str, root: Node, listed: Member | None, tool: str) -> str:
    word = _string(tool)
    if listed is None:
        last = root.value[-1]
        gap = _gap(text, last.key.start)
        return f'{text[: last.value.end]},{gap}"associated_tools": [{word}]{text[last.value.end :]}'
    items = listed.value.value
    if not items:
        return f"{text[: listed.value.start]}[{word}]{text[listed.value.end :]}"
    return f"{text[: items[-1].end]},{_gap(text, items[-1].start)}{word}{text[items[-1].end :]}"


def _removed(text: str, listed: Node, at: int) -> str:
    items = listed.value
    if len(items) == 1:
        return f"{text[: listed.start]}[]{text[listed.end :]}"
    if at == 0:
        return text[: items[0].start] + text[items[1].start :]
    return text[: items[at - 1].end] + text[items[at].end :]


def _gap(text: str, start: int) -> str:
    """The space between two elements: the indentation of the one that starts here, or a space on one line."""
    before = text[:start]
    gap = before[len(before.rstrip(" \t\r\n")) :]
    return gap if "\n" in gap else " "


def _root(path: str, data: bytes) -> Node | None:
    try:
        root, problems = parse(path, data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return None
    return root if root is not None and root.kind == "object" and not problems else None


def _member(node: Node, name: str) -> Member | None:
    return next((member for member in node.value if member.key.value == name), None)


def _string(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
