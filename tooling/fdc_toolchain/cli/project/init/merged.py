"""Adds a block of text, an entry or a hook to existing files. Keeps texts byte for byte, and JSON by value."""

from __future__ import annotations

import json
import re
from typing import TypeAlias

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | bool | None"


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
    """Adds the hooks `wanted` to a JSON file; None if it already has all `commands`. Raises ByHand.

    Both are objects. Lists under the same key are concatenated; other keys of `old` are kept.
    """
    have, width = _read(old)
    if all(_holds(have, command) for command in commands):
        return None
    if any(_holds(have, command) for command in commands):
        raise ByHand("it has only some of fdc's hooks")
    try:
        made = _joined(have, wanted)
    except TypeError as wrong:
        raise ByHand(str(wrong)) from wrong
    try:
        return _written(made, width)
    except RecursionError as wrong:
        raise ByHand("it is nested too deeply") from wrong


def without_hooks(old: bytes, wanted: dict[str, JSON]) -> bytes | None:
    """Takes the hooks that `with_hooks` added out of a JSON file; None if it has none of them. Raises ByHand.

    A list or an object that is empty without them goes, too; other keys and values are kept. Empty bytes where nothing
    but the version of the form is left.
    """
    have, width = _read(old)
    made = _parted(have, wanted)
    if made == have:
        return None
    return b"" if made in ({}, {"version": 1}) else _written(made, width)


def _parted(have: JSON, wanted: JSON) -> JSON:
    if isinstance(have, list) and isinstance(wanted, list):
        return [item for item in have if item not in wanted]
    if not isinstance(have, dict) or not isinstance(wanted, dict):
        return have
    left: dict[str, JSON] = {}
    for key, value in have.items():
        part = _parted(value, wanted[key]) if key in wanted else value
        if part == value or part not in ([], {}):
            left[key] = part
    return left


def _read(old: bytes) -> tuple[JSON, str]:
    """A JSON file's value, and its indentation. Raises ByHand."""
    try:
        text = old.decode("utf-8-sig")
        have: JSON = json.loads(text, object_pairs_hook=_object) if text.strip() else {}
    except (ValueError, RecursionError) as wrong:
        raise ByHand(f"it is not JSON ({_short(wrong)})") from wrong
    indent = re.search(r"(?m)^([ \t]+)\"", text)
    return have, indent[1] if indent else "  "


def _object(pairs: list[tuple[str, JSON]]) -> JSON:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ByHand("it has a duplicate key")
    return made


def _written(made: JSON, width: str) -> bytes:
    return (json.dumps(made, indent=width, ensure_ascii=False) + "\n").encode(
        "utf-8", "surrogatepass"
    )


def _joined(have: JSON, wanted: JSON, where: str = "the file") -> JSON:
    if isinstance(wanted, dict):
        if not isinstance(have, dict):
            raise TypeError(f"{where} is not an object")
        more = {
            key: _joined(have[key], value, f"`{key}`") if key in have else value
            for key, value in wanted.items()
        }
        return {**have, **more}
    if isinstance(wanted, list):
        if not isinstance(have, list):
            raise TypeError(f"{where} is not a list")
        return [*have, *wanted]
    return have


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
