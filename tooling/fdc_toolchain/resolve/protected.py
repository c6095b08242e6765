"""What no step may write unless a plan allows it by name: what fdc and agents obey, and what runs without anybody starting it.

One list, for the linter's rule about files, the file tools and the sandbox of commands. Paths are relative to the
workspace and written with `/`. Nothing here looks at a disk: a path is judged by its names, whether it exists or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..text.glob_match import matches


class Protected(NamedTuple):
    """Why a path is protected. `entry`: the part of the path that the list names (`sub/.git` of `sub/.git/config`);
    `what`: what it is, as the end of a sentence. `never`: no `allow write` opens it."""

    entry: str
    what: str
    never: bool


_FDC = "holds settings of fdc"

ANYWHERE: dict[str, tuple[str, bool]] = {
    ".git": ("belongs to git, which runs its hooks and obeys its settings", True),
    ".fdc": ("belongs to fdc, which keeps its records there", True),
}
"""Names that are protected in every folder, with all that is below them: name to (what it is, never)."""

TOP: dict[str, tuple[str, bool]] = {
    "fdc.toml": (_FDC, True),
    "fdc_tools.json": (_FDC, True),
}
"""Paths that are protected from the workspace's top, with all that is below them."""


def protected(path: str, settings: Iterable[str] = (), more: Iterable[str] = ()) -> Protected | None:
    """Why nothing may write the file or folder at `path`, or None.

    `settings`: more paths of fdc's own settings, such as its catalogues of tools. `more`: globs of a workspace's own
    (`protect` in its settings). A name counts in every spelling that a file system may take for the same one.
    """
    names = [name for name in path.split("/") if name not in ("", ".")]
    folded = [folded_name(name) for name in names]
    for at in range(len(names)):
        entry, same = "/".join(names[: at + 1]), "/".join(folded[: at + 1])
        row = ANYWHERE.get(folded[at]) or TOP.get(same)
        if row is not None:
            return Protected(entry, *row)
        if any(same == folded_path(one) for one in settings):
            return Protected(entry, _FDC, True)
        if any(matches(entry, glob) for glob in more):
            return Protected(entry, "is protected by the workspace's settings (`protect`)", False)
    return None


def named(entry: str, glob: Sequence[tuple[bool, str]]) -> bool:
    """True where a glob of `allow write` names a protected entry itself, and does not only cover it with its wildcards.

    `glob` is in pieces, as a grant holds it; a piece with True is a value, which names nothing by itself.
    """
    known = ""
    for is_value, text in glob:
        cut = 0 if is_value else next((at for at, character in enumerate(text) if character in "*?"), len(text))
        known += text[:cut]
        if cut < len(text) or is_value:
            break
    ours, theirs = folded_path(known), folded_path(entry)
    return ours == theirs or ours.startswith(theirs + "/")


def folded_path(path: str) -> str:
    """A path without what means nothing, each name as `folded_name` has it."""
    return "/".join(folded_name(name) for name in path.split("/") if name not in ("", "."))


def folded_name(name: str) -> str:
    """A name as a file system that folds case, or hides characters, may see it."""
    if name.isascii():
        return name.lower()
    import unicodedata

    plain = unicodedata.normalize("NFKC", name)
    return "".join(c for c in plain if unicodedata.category(c) != "Cf").casefold()
