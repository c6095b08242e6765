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


def with_hooks(old: bytes, wanted: dict[str, JSON], commands: tuple[str, ...]) -> bytes | None:
    """Adds the hooks `wanted` to a JSON file; None if it already has all `commands`. Raises ByHand.

    Both are objects. Lists under the same key are concatenated; other keys of `old` are kept.
    """
    try:
        text = old.decode("utf-8-sig")
        have: JSON = json.loads(text, object_pairs_hook=_object) if text.strip() else {}
    except (ValueError, RecursionError) as wrong:
        raise ByHand(f"it is not JSON ({_short(wrong)})") from wrong
    if all(_holds(have, command) for command in commands):
        return None
    if any(_holds(have, command) for command in commands):
        raise ByHand("it has only some of fdc's hooks")
    indent = re.search(r"(?m)^([ \t]+)\"", text)
    try:
        made = _joined(have, wanted)
    except TypeError as wrong:
        raise ByHand(str(wrong)) from wrong
    width = indent[1] if indent else "  "
    try:
        return _written(made, width)
    except RecursionError as wrong:
        raise ByHand("it is nested too deeply") from wrong


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
