"""Files as an approval shows them: noted by their digests while it looks ahead, compared with those afterwards."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Protocol

from ..engine.files.released import NONE, Released
from ..program.model import Grant
from .failure import ToolFailure

_WORD = re.compile(r"[^\s\"'\\;|&()<>=!$,:`]+")
_OUTPUT = re.compile(r">[>|]?\s*[^\s;|&()<>]+")
_FILE = re.compile(r"[./]\w")
"""What a name of a file has, and few other words."""
_QUOTING = re.compile(r"[\"'\\]")
_LETTERS = 6
"""Letters of options before a path that stands right behind them, as in `make -sf/deep/rules`."""
LOOKED_AT = 200_000
"""Names that the words of a command are looked for under; of a command with more, not all files can be known."""
BOUND = 20_000
"""Files that are bound; what goes beyond is refused."""


class Files(Protocol):
    """An open workspace (`workspace.files.Root`), as far as contents are compared."""

    def granted(self, grants: Sequence[Grant], /) -> Files:
        """The same workspace for a step under these grants."""

    def find(self, path: str, /) -> bytes | None:
        """The bytes of a file, or None where there is none. Raises ToolFailure."""

    def kind(self, path: str, /) -> str:
        """What lies at a path. Raises ToolFailure for one that no file of the workspace can have."""


class TooMuch(Exception):
    """More files than an approval can show and bind."""


def difference(released: Released, root: Files, path: str) -> str:
    """Why a file is not as it was shown; empty where it is."""
    shown = released.shown(path)
    if shown is None:
        return ""
    now = now_at(root, path)
    if now == shown:
        return ""
    how = "was deleted" if now == NONE else "was created" if shown == NONE else "changed"
    return f"`{path}` {how} after the approval showed it"


def named(
    command: Iterable[object], root: Files, shown: Container[str] = (), missing: bool = False
) -> Iterator[str]:
    """The files of the workspace that the words of a command's texts name, from the top or from a folder that a word names.

    Also what is in `shown` and no file any more, and with `missing` what somebody could make meanwhile (`./new.sh`). Not the
    files that the shell writes the output to: they may change while a person reads. Raises TooMuch.
    """
    text = _OUTPUT.sub(" ", " ".join(one for one in command if type(one) is str))
    words = list(dict.fromkeys((*_WORD.findall(text), *_WORD.findall(_QUOTING.sub("", text)))))
    words = list(dict.fromkeys(one for word in words for one in _behind_options(word)))
    folders = ["", *(word for word in words if _kind(root, word) == "folder")]
    if len(words) * len(folders) > LOOKED_AT:
        raise TooMuch("a command has too many words to know which files it names")
    for folder in folders:
        for word in words:
            path = posixpath.normpath(posixpath.join(folder, word))
            kind = _kind(root, path)
            new = missing and kind == "missing" and _FILE.search(word) and path[:1] not in "/.-"
            if path in shown or kind in ("file", "other") or new:
                yield path


def _behind_options(word: str) -> Iterator[str]:
    """A word, and what may be a path in it behind options of one letter (`-fdeep/rules`) or an `@` (`@names.txt`)."""
    yield word
    if word.startswith("-") and not word.startswith("--"):
        for end in range(2, min(len(word), _LETTERS + 2)):
            path = word[end:].removeprefix("@")
            if (
                end == 2 and len(path) > 1 or _FILE.search(path)
            ):  # else it is more letters, as in `ls -la`
                yield path
    elif "@" in word[:1]:
        yield word[1:]


def _kind(root: Files, path: str) -> str:
    try:
        return root.kind(path)
    except ToolFailure:
        return "missing"


def now_at(root: Files, path: str) -> str:
    """The digest of a file, `NONE` where there is none, and a word for what cannot be read."""
    try:
        data = root.granted(()).find(path)  # as it is, whatever was shown
    except ToolFailure as failure:
        return f"({failure.kind})"
    return NONE if data is None else digest(data)


def digest(data: bytes) -> str:
    """The name of a content."""
    return blake2b(data, digest_size=16).hexdigest()


class Noted:
    """The lists that were looked up and the files that were read meanwhile."""

    def __init__(self) -> None:
        self.lists: dict[str, list[str]] = {}
        self.files: dict[str, str] = {}

    def list(self, glob: str, found: list[str]) -> None:
        """A glob was looked up."""
        self.lists[glob] = found
        self._full(sum(map(len, self.lists.values())))

    def file(self, path: str, now: str) -> None:
        """A file was looked at."""
        self.files.setdefault(path, now)
        self._full(len(self.files))

    def _full(self, count: int) -> None:
        if count > BOUND:
            raise TooMuch(
                f"the steps after the approval concern more than {BOUND} files, too many for a person to check"
            )
