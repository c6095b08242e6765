"""Adds a block of text, an entry or a hook to existing files. What the files have stays byte for byte."""

from __future__ import annotations

import codecs
import json
import re

from ....text.json_text import JSON, Node, parse, plain
from . import json_edits


class ByHand(Exception):
    """fdc cannot add to the file. The message says why."""


def appended(old: bytes, text: str) -> bytes:
    """Appends a text after an empty line, with the line ends of the file. Raises ByHand."""
    try:
        old.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise ByHand("it is not UTF-8") from wrong
    text = text.rstrip("\n") + "\n"
    if b"\r\n" in old:
        text = text.replace("\n", "\r\n")
    end = b"\r\n" if b"\r\n" in old else b"\n"
    before = old if not old or old.endswith(b"\n") else old + end
    return before + (end if before.strip() else b"") + text.encode("utf-8")


def without(old: bytes, text: str) -> bytes | None:
    """Takes out a text that `appended` added, with the empty line before it; None if the file does not have it."""
    wanted = (text.rstrip("\n") + "\n").encode("utf-8")
    end = b"\r\n" if b"\r\n" in old else b"\n"
    wanted = wanted.replace(b"\n", end)
    before, found, after = old.partition(wanted)
    if not found or before and not before.endswith(end):
        return None
    if before.endswith(end * 2):
        before = before[: -len(end)]
    return before + after


def with_hooks(old: bytes, wanted: dict[str, JSON], commands: tuple[str, ...]) -> bytes | None:
    """Adds the hooks `wanted` to a JSON file; None if it already has all `commands`. Raises ByHand."""
    text, root, start = _read(old)
    have = plain(root)
    if all(_holds(have, command) for command in commands):
        return None
    if any(_holds(have, command) for command in commands):
        raise ByHand("it has only some of fdc's hooks")
    if have == {}:
        return old[:start] + (json.dumps(wanted, indent=2, ensure_ascii=False) + "\n").encode()
    indent = re.search(r"(?m)^([ \t]+)\"", text)
    try:
        made = json_edits.added(text, root, wanted, indent[1] if indent else "  ")
    except TypeError as wrong:
        raise ByHand(str(wrong)) from wrong
    return old[:start] + made.encode("utf-8")


def without_hooks(old: bytes, wanted: dict[str, JSON]) -> bytes | None:
    """Takes the hooks that `with_hooks` added out of a JSON file; None if it has none of them. Raises ByHand.

    A list or an object that is empty without them goes, too. Empty bytes where nothing but the version of the form is left.
    """
    text, root, start = _read(old)
    have = plain(root)
    left = json_edits.left(have, wanted)
    if left == have:
        return None
    if left in ({}, {"version": 1}):
        return b""
    return old[:start] + json_edits.without(text, root, wanted).encode("utf-8")


def _read(old: bytes) -> tuple[str, Node, int]:
    """A JSON file's text, its value, and where in the bytes the text begins (after a mark of the encoding). Raises ByHand."""
    start = 3 if old.startswith(codecs.BOM_UTF8) else 0
    try:
        text = old[start:].decode("utf-8") if old[start:].strip() else "{}"
    except UnicodeDecodeError as wrong:
        raise ByHand("it is not UTF-8") from wrong
    root, problems = parse(text)
    if root is None:
        raise ByHand(f"it is not JSON ({problems[-1].message})")
    if problems:
        raise ByHand("it has a duplicate key")
    return text, root, start


def _holds(value: JSON, command: str) -> bool:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and command in value:
            return True
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return False


def with_repository(old: bytes, entry: str) -> bytes:
    """Adds an entry at the end of `repos` in a `.pre-commit-config.yaml`. Raises ByHand."""
    import yaml

    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(old)):
            raise ByHand("it uses YAML aliases")
        have = yaml.safe_load(old)
        more = yaml.safe_load(entry)
    except (yaml.YAMLError, UnicodeError, ValueError, RecursionError) as wrong:
        raise ByHand(f"it is not YAML ({_short(wrong)})") from wrong
    if not isinstance(have, dict) or not isinstance(have.get("repos"), list) or not have["repos"]:
        raise ByHand("its list `repos` is missing")
    text = old.decode("utf-8")
    lines = text.splitlines(keepends=True)
    start = next(
        (at for at, line in enumerate(lines) if re.match(r"repos\s*:\s*(#.*)?$", line)), None
    )
    if start is None:
        raise ByHand("its list `repos` is not in block style")
    indent, end = "", start + 1
    for at in range(start + 1, len(lines)):
        item = re.match(r"([ ]*)-\s", lines[at])
        if item and end == start + 1:
            indent = item[1]
        if lines[at].strip() and not re.match(r"[\s#-]", lines[at]):
            break
        if lines[at].strip() and not lines[at].startswith("#"):
            end = at + 1
    break_ = "\r\n" if "\r\n" in text else "\n"
    if not lines[end - 1].endswith("\n"):
        lines[end - 1] += break_
    added = [f"{indent}{line}{break_}" for line in entry.splitlines()]
    made = "".join([*lines[:end], *added, *lines[end:]])
    try:
        same = yaml.safe_load(made) == {**have, "repos": [*have["repos"], *more]}
    except yaml.YAMLError:
        same = False
    if not same:
        raise ByHand("its indentation of `repos` is not supported")
    return made.encode("utf-8")


def _short(wrong: Exception) -> str:
    return str(wrong).split("\n")[0][:80]


def without_repository(old: bytes, entry: str) -> bytes | None:
    """Takes out the entry that `with_repository` added; None if it is not there as it was added. Raises ByHand."""
    import yaml

    lines, wanted = old.decode("utf-8", "replace").splitlines(), entry.splitlines()
    for at in range(len(lines) - len(wanted) + 1):
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip(" "))]
        if lines[at : at + len(wanted)] == [f"{indent}{line}" for line in wanted]:
            break
    else:
        return None
    whole = old.splitlines(keepends=True)
    made = b"".join([*whole[:at], *whole[at + len(wanted) :]])
    try:
        have, left = yaml.safe_load(old), yaml.safe_load(made)
        more = yaml.safe_load(entry)
        others = [item for item in have["repos"] if item not in more]
        same = left == ({**have, "repos": others} if others else {"repos": None})
    except (yaml.YAMLError, UnicodeError, AttributeError, KeyError, TypeError) as wrong:
        raise ByHand(f"it is not YAML ({_short(wrong)})") from wrong
    if not same:
        raise ByHand("the entry cannot be taken out of its list `repos`")
    return made
