"""Reads a `pack.toml`, and reports an error in one sentence with file and line."""

from __future__ import annotations

import errno
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

from .. import durable
from ..exits import reason
from .beside import FILE
from .model import PackError

FORMAT = 1

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_WORD = re.compile(r"[A-Za-z_][\w-]*(\.[A-Za-z_]\w*)*\Z")
_COMMAND = re.compile(r"[a-z][a-z0-9_-]*\Z")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\Z")
_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*\Z")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PLACE = re.compile(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)\Z", re.DOTALL)

Check = Callable[[Any], "str | None"]
"""What a value must be, or None if it is valid."""


def read(folder: str) -> dict[str, object]:
    """The document of the pack in a folder. Raises PackError."""
    path = os.path.join(folder, FILE)
    try:
        data = content(path)
    except OSError as failed:
        raise PackError(reason(failed), path) from None
    return parsed(data, path)


def content(path: str) -> bytes:
    """The bytes of a regular file. Raises OSError, also for a pipe, which would never end."""
    data = durable.read(path)
    if data is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return data


def parsed(data: bytes, path: str, *, data_only: bool = False) -> dict[str, object]:
    """The document in the bytes of a `pack.toml`; `path` is for messages. Raises PackError.

    `data_only`: nothing of the pack is imported by fdc, so its commands are plans, and it has no pages.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise PackError(f"the file is not UTF-8 text (byte {wrong.start})", path) from None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        found = _PLACE.match(str(wrong))
        line = int((found[2] if found else None) or text.count("\n") + 1)
        said = found[1] if found else str(wrong)
        raise PackError(f"invalid TOML: {said[:1].lower()}{said[1:]}", path, line) from None
    except RecursionError:
        raise PackError("invalid TOML: nested too deeply", path, 1) from None
    except ValueError:
        raise PackError("invalid TOML: a number has too many digits", path, 1) from None
    for keys, said in (*_wrong(document), *(_code(document) if data_only else ())):
        raise PackError(said, path, _line(text, keys))
    return document


def _code(document: dict[str, Any]) -> Iterator[tuple[list[str], str]]:
    """Rejects Python code that fdc would have to import."""
    for name, row in document.get("commands", {}).items():
        if "module" in row:
            said = f"`commands.{name}` must name a plan (`plan`): fdc imports no Python code of a workspace"
            yield ["commands", name, "module"], said
    if document.get("pages"):
        yield (
            ["pages"],
            "a pack of a workspace has no pages: fdc imports no Python code of a workspace",
        )


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) and value.strip() else "a text"


def _texts(value: Any) -> str | None:
    return (
        None
        if isinstance(value, list) and all(isinstance(one, str) and one for one in value)
        else "a list of texts"
    )


def _flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else "true or false"


def _like(pattern: re.Pattern[str], what: str) -> Check:
    return lambda value: None if isinstance(value, str) and pattern.match(value) else what


_IS_MODULE = _like(_MODULE, "a module below the pack's package, such as `command`")
_IS_FUNCTION = _like(_FUNCTION, "`module:function`, the module below the pack's package")
_IS_IDENTIFIER = _like(re.compile(r"[A-Za-z_]\w*\Z"), "the name of a function in the same module")


def _inside_text(value: Any) -> str | None:
    return None if _inside(value) else "the path of a plan below the pack's folder"


def _parameters(value: Any) -> str | None:
    right = isinstance(value, dict) and all(
        _PARAMETER.match(name) and _text(said) is None for name, said in value.items()
    )
    return None if right else "a table of the plan's parameters, each with a description"


def _needs(value: Any) -> str | None:
    what = "a list of names, or of tables with `what`, `parameter` and `values`"
    if not isinstance(value, list):
        return what
    for one in value:
        table = (
            isinstance(one, dict)
            and one.keys() == {"what", "parameter", "values"}
            and not (_text(one["what"]) or _text(one["parameter"]) or _texts(one["values"]))
        )
        if not table and _text(one):
            return what
    return None


_FIELDS: dict[str, dict[str, tuple[Check, bool]]] = {
    # table: {key of each of its rows: (check, required)}
    "commands": {
        "module": (_IS_MODULE, False),
        "plan": (_inside_text, False),
        "parameters": (_parameters, False),
        "help": (_text, True),
        "outside_only": (_flag, False),
        "tells": (_texts, False),
    },
    "tools": {
        "function": (_IS_FUNCTION, True),
        "probe": (_IS_IDENTIFIER, False),
        "needs": (_needs, False),
    },
    "predicates": {"function": (_IS_FUNCTION, True), "needs": (_needs, False)},
    "checks": {"function": (_IS_FUNCTION, True)},
    "pages": {
        "module": (_IS_MODULE, True),
        "plans": (_texts, True),
        "title": (_text, True),
        "again": (_text, True),
    },
}
_NAMES = {
    "commands": _COMMAND,
    "tools": _WORD,
    "predicates": _WORD,
    "checks": _WORD,
    "pages": _COMMAND,
}
_FILES = {"automata": _WORD, "plans": re.compile(r"[A-Za-z0-9][\w./-]*\Z")}
"""Tables of files of the pack, and what their names are like."""
_PATHS = "paths below the pack's folder"
_SHORT = ("tools", "predicates", "checks")
"""Tables in which a text stands for a row that has nothing but its function."""


def _wrong(document: dict[str, Any]) -> Iterator[tuple[list[str], str]]:
    """The errors, each with the keys of its place."""
    if document.get("format") != FORMAT:
        yield ["format"], f"`format` must be {FORMAT}"
    if not isinstance(document.get("name"), str) or not _NAME.match(document["name"]):
        yield ["name"], "`name` must be lower-case letters, digits and `_`, a letter first"
    if _text(document.get("summary")):
        yield ["summary"], "`summary` must be a text that describes the pack in one line"
    known = {"format", "name", "summary", "catalogues", "renamed", *_FIELDS, *_FILES}
    for key in sorted(document.keys() - known):
        yield [key], f"unknown key `{key}`"
    for table in _FIELDS:
        yield from _rows(table, document.get(table, {}))
    catalogues = document.get("catalogues", [])
    if _texts(catalogues) or not all(map(_inside, catalogues)):
        yield ["catalogues"], f"`catalogues` must be a list of {_PATHS}"
    for table, pattern in _FILES.items():
        yield from _files(table, pattern, document.get(table, {}))
    for path in sorted({"api", "events", "runs"} & {*document.get("pages", {})}):
        yield ["pages", path], f"`{path}` is a page of fdc itself"
    yield from _renamed(document.get("renamed", {}))


def _rows(table: str, rows: Any) -> Iterator[tuple[list[str], str]]:
    if not isinstance(rows, dict):
        yield [table], f"`{table}` must be a table"
        return
    fields = _FIELDS[table]
    for name, row in rows.items():
        if not _NAMES[table].match(name):
            yield [table, name], f"`{name}` cannot be a name in `{table}`"
        if table in _SHORT and isinstance(row, str):
            row = {"function": row}
        if not isinstance(row, dict):
            yield [table, name], f"`{table}.{name}` must be a table"
            continue
        if table == "commands" and ("module" in row) == ("plan" in row):
            yield [table, name], f"`{table}.{name}` must have either `module` or `plan`"
        elif table == "commands" and "parameters" in row and "plan" not in row:
            yield [table, name], f"`{table}.{name}` has `parameters`, which need `plan`"
        elif table == "commands" and "tells" in row and "module" not in row:
            yield [table, name], f"`{table}.{name}` has `tells`, which needs `module`"
        for key in sorted(row.keys() - fields.keys()):
            yield [table, name, key], f"unknown key `{key}` in `{table}.{name}`"
        for key, (check, required) in fields.items():
            if key not in row:
                if required:
                    yield [table, name], f"`{table}.{name}` lacks `{key}`"
            elif wanted := check(row[key]):
                yield [table, name, key], f"`{key}` of `{table}.{name}` must be {wanted}"


def _inside(path: Any) -> bool:
    """Whether something is the path of a file below the pack's folder."""
    parts = path.split("/") if isinstance(path, str) else []
    return bool(parts) and not {"", ".", ".."} & {*parts} and "\0" not in path


def _files(table: str, pattern: re.Pattern[str], rows: Any) -> Iterator[tuple[list[str], str]]:
    if not isinstance(rows, dict):
        yield [table], f"`{table}` must be a table of names and {_PATHS}"
        return
    for name, path in rows.items():
        if not pattern.match(name):
            yield [table, name], f"`{name}` cannot be a name in `{table}`"
        if not _inside(path):
            yield [table, name], f"`{table}.{name}` must be one of the {_PATHS}"


def _renamed(tables: Any) -> Iterator[tuple[list[str], str]]:
    if not isinstance(tables, dict) or tables.keys() - {"functions", "files"}:
        yield ["renamed"], "`renamed` may have two tables, `functions` and `files`"
        return
    for table, rows in tables.items():
        if not isinstance(rows, dict) or not all(isinstance(row, str) for row in rows.values()):
            yield ["renamed", table], f"`renamed.{table}` must map old names to new ones"


def _line(text: str, keys: list[str]) -> int:
    """The line on which the last of the keys that the file has is written; 1 where it has none."""
    lines = text.split("\n")
    found = 0
    for key in keys:
        pattern = re.compile(
            rf"\s*\[*(?:[\w.\"-]+\.)?\"?{re.escape(key)}\"?\s*[=.\]]|.*[{{,]\s*{re.escape(key)}\s*="
        )
        found = next((at for at in range(found, len(lines)) if pattern.match(lines[at])), found)
    return found + 1
