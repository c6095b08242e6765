"""The file tools, done for real in a folder. Paths count from that folder; links are not followed out of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from tests.reference.conditions import number_in
from tests.reference.stops import Stop

#: Folders and files that no step may change.
PROTECTED = (".fdc", ".git", "fdc.toml", "knowledge_core/plan_registry.json")


def clean(path: Any, what: str = "path") -> str:
    """A path from the workspace in its plain form. Stop `argument`, `type` or `path` where it is none."""
    if not isinstance(path, str):
        raise Stop("type", f"`{what}` must be text")
    if not path:
        raise Stop("argument", f"`{what}` is empty")
    if path.startswith("/") or ".." in path.split("/") or "\0" in path:
        raise Stop("path", f"`{path}` is not a path inside the workspace", path)
    return "/".join(part for part in path.split("/") if part not in ("", ".")) or "."


def is_protected(path: str) -> bool:
    return any(path == one or path.startswith(one + "/") for one in PROTECTED)


def all_files(root: Path) -> list[str]:
    """Every file of the folder, in the order of the paths."""
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def segment_pattern(segment: str) -> re.Pattern[str]:
    """One name of a glob as a regular expression."""
    made, at = "", 0
    while at < len(segment):
        letter = segment[at]
        close = segment.find("]", at + 2) if letter == "[" else -1
        if letter == "*":
            made += "[^/]*"
        elif letter == "?":
            made += "[^/]"
        elif close > 0:
            made += "[" + segment[at + 1 : close].replace("\\", "\\\\").replace("!", "^", 1) + "]"
            at = close
        else:
            made += re.escape(letter)
        at += 1
    return re.compile(made)


def matches(glob: str, path: str, dots: bool = False) -> bool:
    """Whether the glob matches the path (docs/language.md, "Loops"); with `dots` (in `allow`) hidden names, too."""

    def hidden(name: str) -> bool:
        return name.startswith(".") and not dots

    def go(patterns: list[str], names: list[str]) -> bool:
        if not patterns:
            return not names
        first, rest = patterns[0], patterns[1:]
        if first == "**":
            if not rest:
                return bool(names) and not any(map(hidden, names))
            return (
                go(rest, names) or bool(names) and not hidden(names[0]) and go(patterns, names[1:])
            )
        if not names or hidden(names[0]) and not first.startswith("."):
            return False
        return bool(segment_pattern(first).fullmatch(names[0])) and go(rest, names[1:])

    return go([part for part in glob.split("/") if part not in ("", ".")], path.split("/"))


def glob_of(text: Any) -> str:
    """The glob of a `for_each_file` in its plain form. An empty one is a stop `path`, as one that leads out is."""
    if text == "":
        raise Stop("path", "an empty text is not a glob", "")
    return clean(text)


def is_glob(text: str) -> bool:
    return any(sign in text for sign in "*?[")


def glob_files(root: Path, glob: str) -> list[str]:
    return [path for path in all_files(root) if matches(glob, path)]


def listed(root: Path, where: Any) -> list[str]:
    """What `list_files` and `grep` look at: all files, those below a folder, one file, or those that match a glob."""
    if where in (None, ""):
        return glob_files(root, "**")
    where = clean(where)
    if is_glob(where):
        return glob_files(root, where)
    if (root / where).is_file():
        return [where]
    if not (root / where).is_dir() and not re.fullmatch("runs/[^/]+(/outside)?", where):
        raise Stop("missing", f"`{where}` does not exist", where)
    if where == ".":
        return glob_files(root, "**")
    return [
        path
        for path in all_files(root)
        if path.startswith(where + "/") and matches("**", path[len(where) + 1 :])
    ]


def one_name(path: Any, what: str) -> None:
    """Stop `path` for a file whose path ends with a slash, before it is asked whether the plan allows it."""
    name = clean(path, what)
    if path.rpartition("/")[2] in ("", "."):
        raise Stop("path", f"`{path}` ends with a slash", name)


def place(root: Path, path: Any, what: str = "path") -> tuple[str, Path]:
    """A path and where it is, for a tool that works on a file. Stop `path` where a part of it is a file."""
    name = clean(path, what)
    for parent in PurePosixPath(name).parents:
        if (root / parent).exists() and not (root / parent).is_dir():
            raise Stop("path", f"`{name}` leads through a file", name)
    return name, root / name


def existing(root: Path, path: Any, what: str = "path") -> tuple[str, Path]:
    name, real = place(root, path, what)
    if real.is_dir():
        raise Stop("path", f"`{name}` is a folder", name)
    if not real.exists():
        raise Stop("missing", f"`{name}` does not exist", name)
    return name, real


def may_change(name: str) -> None:
    if is_protected(name):
        raise Stop("protected", f"no step may change `{name}`", name)


def read_text(real: Path, name: str) -> str:
    try:
        return real.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise Stop("encoding", f"`{name}` is not UTF-8", name) from None


def written(real: Path, name: str, content: Any) -> dict[str, Any]:
    if content is None:
        content = ""
    if not isinstance(content, str):
        raise Stop("type", "`content` must be text")
    real.parent.mkdir(parents=True, exist_ok=True)
    real.write_bytes(content.encode())
    return {"path": name, "bytes": len(content.encode())}


def read_file(root: Path, path: Any) -> str:
    name, real = existing(root, path)
    return read_text(real, name)


def create_file_with_block(
    root: Path, path: Any, content: Any = None, strict: bool = False
) -> dict[str, Any]:
    """A file that has exactly the content already counts as created, unless `strict`."""
    name, real = place(root, path)
    may_change(name)
    if real.is_dir():
        raise Stop("path", f"`{name}` is a folder", name)
    same = (
        real.is_file()
        and not strict
        and isinstance(content, str)
        and real.read_bytes() == content.encode()
    )
    if real.exists() and not same:
        raise Stop("exists", f"`{name}` already exists", name)
    return written(real, name, content)


def overwrite_file_with_block(root: Path, path: Any, content: Any) -> dict[str, Any]:
    name, real = place(root, path)
    may_change(name)
    if real.is_dir():
        raise Stop("path", f"`{name}` is a folder", name)
    return written(real, name, content)


def delete_file(root: Path, path: Any, strict: bool = False) -> str:
    """A file that is not there counts as deleted, unless `strict`."""
    name, real = existing(root, path) if strict else place(root, path)
    may_change(name)
    if real.is_dir():
        raise Stop("path", f"`{name}` is a folder", name)
    real.unlink(missing_ok=True)
    return f"deleted {name}"


def rename_file(root: Path, path: Any, target: Any) -> str:
    name, real = existing(root, path)
    other, to = place(root, target, "target")
    may_change(name)
    may_change(other)
    if to.exists():
        raise Stop("exists", f"`{other}` already exists", other)
    to.parent.mkdir(parents=True, exist_ok=True)
    real.rename(to)
    return f"renamed {name} to {other}"


def list_files(root: Path, path: Any = None) -> list[str]:
    return listed(root, path)


def grep(root: Path, pattern: Any, path: Any = None, most: Any = None) -> list[dict[str, Any]]:
    if not isinstance(pattern, str):
        raise Stop("type", "`pattern` must be text")
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise Stop("argument", f"`{pattern}` is not a regular expression: {error}") from None
    return list(
        islice(
            _hits(root, expression, listed(root, path)), min(count(most, "most") or 2_000, 2_000)
        )
    )


def _hits(root: Path, expression: re.Pattern[str], names: list[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        text = (root / name).read_bytes().decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), 1):
            if expression.search(line):
                yield {"path": name, "line": number, "text": line[:400]}


def count(value: Any, what: str) -> int | None:
    """A number from 1 that is given as one or as a text that spells one; None where none is given."""
    number = number_in(value)
    if value is not None and (number is None or number < 1):
        raise Stop("type", f"`{what}` must be a number from 1")
    return None if number is None else int(number)


def read_lines(root: Path, path: Any, first: Any = None, last: Any = None) -> dict[str, Any]:
    """The lines that exist from `first` to `last`; both count from 1."""
    begin, end = count(first, "first") or 1, count(last, "last")
    name, real = existing(root, path)
    lines = read_text(real, name).removesuffix("\n").split("\n")
    end = min(len(lines), begin + 999, end or len(lines))
    text = "\n".join(lines[begin - 1 : end])
    return {"text": text, "first": begin, "last": end, "lines": len(lines)}


def append(root: Path, item: Any = None, to: Any = None) -> list[Any]:
    """A value that is not a list counts as a list of one item."""
    before = to if isinstance(to, list) else [] if to is None else [to]
    return [*before, *([] if item is None else [item])]


def among(root: Path, value: Any, of: Any) -> str:
    if not isinstance(value, str):
        raise Stop("type", "`value` must be text")
    if not isinstance(of, list):
        raise Stop("type", "`of` must be a list")
    if value not in of:
        raise Stop("world", f"`{value}` is not in the list")
    return value


SECTION = re.compile(r"<{7} SEARCH\n(.*?)={7}\n(.*?)>{7} REPLACE\n?", re.DOTALL)


def replace_with_git_merge_diff(root: Path, path: Any, diff: Any) -> dict[str, Any]:
    name, real = existing(root, path)
    may_change(name)
    text, sections = read_text(real, name), SECTION.findall(diff)
    if not sections or SECTION.sub("", diff).strip():
        raise Stop("argument", "the block has no SEARCH and REPLACE sections")
    for search, replace in sections:
        if text.count(search) != 1:
            raise Stop("diff", f"the SEARCH text is in `{name}` {text.count(search)} times", name)
        text = text.replace(search, replace)
    return {**written(real, name, text), "replaced": len(sections)}


REPEATED = ("create_file_with_block", "delete_file")
"""Tools that count a step as done whose effect is there already."""

FILE_TOOLS: dict[str, Callable[..., Any]] = {
    tool.__name__: tool
    for tool in (
        read_file,
        create_file_with_block,
        overwrite_file_with_block,
        delete_file,
        rename_file,
        list_files,
        grep,
        read_lines,
        append,
        among,
        replace_with_git_merge_diff,
    )
}
