"""Paths that no step may use, or may change: one table for the linter, which refuses them, and for the runner.

A path is relative to the workspace, and leads neither upwards nor through a link. What rules fdc and git in a
workspace is no step's to change, under whatever name a file system takes for the same.
"""

from __future__ import annotations

from collections.abc import Collection

SETTINGS = ("fdc.toml", "fdc_tools.json")
"""Files in the root that decide what fdc lets plans do."""

RULED = (".git", ".fdc")
"""Folders that no step may change, wherever they lie."""


def components(path: str) -> list[str]:
    """The names on the way to a path, without those that mean nothing."""
    return [part for part in path.split("/") if part not in ("", ".")]


def outside(path: str) -> str | None:
    """Why a path names no file of the workspace; None where it may name one."""
    if not path or path.startswith("/"):
        return f"`{path}` is not a path relative to the workspace"
    if "\0" in path:
        return "a path with a NUL byte"
    if ".." in path.split("/"):
        return f"`{path}` leads upwards with `..`"
    if not components(path):
        return f"`{path}` names the workspace itself"
    return None


def protected(path: str, names: Collection[str]) -> str | None:
    """Why no step may change a path (`names`: what settings add to the table, folded); None where one may."""
    parts = components(path)
    for part in parts:
        if folded(part) in RULED:
            return f"`{path}` lies in `{part}`, which no step may change"
    if folded("/".join(parts)) in names:
        return f"`{path}` holds settings of fdc, which no step may change"
    return None


def folded(name: str) -> str:
    """A name as a file system that folds case, or hides characters, may see it."""
    if name.isascii():
        return name.casefold()
    import unicodedata

    plain = unicodedata.normalize("NFKC", name)
    return "".join(c for c in plain if unicodedata.category(c) != "Cf").casefold()
