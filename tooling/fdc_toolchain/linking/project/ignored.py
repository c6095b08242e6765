"""The files that git ignores below a folder: by nested .gitignore files and .git/info/exclude.

The machine's own `core.excludesFile` is left out on purpose: a scan must not depend on whose
machine it runs on.
"""

from __future__ import annotations

import os

from .discover import compiled

_LIMIT = 1 << 20
"""Maximum size of a .gitignore that is read."""


class Ignored:
    """The rules in force. `enter` a folder before asking about what lies in it."""

    def __init__(self, folder: str) -> None:
        """Reads the rules that reach `folder` from above: its repository's, down to `folder` itself."""
        self._specs: dict[str, object] = {}
        self._base = os.path.realpath(folder)
        self._top = _repository(self._base) or self._base
        self._lowest: object | None = None
        if self._top != self._base or os.path.exists(os.path.join(self._top, ".git")):
            self._lowest = compiled(_lines(_exclude_file(self._top)))
        self._read(self._top)
        for name in _prefixes(os.path.relpath(self._base, self._top)):
            if self(os.path.join(os.path.relpath(self._top, self._base), name), True):
                # who names an ignored folder wants what is in it
                self._specs, self._lowest, self._top = {}, None, self._base
                return self._read(self._base)
            self._read(os.path.join(self._top, name))

    def enter(self, relative: str) -> None:
        """Reads the .gitignore of the folder `relative` (to the scan's folder), where there is one."""
        self._read(os.path.join(self._base, relative))

    def __call__(self, relative: str, is_folder: bool) -> bool:
        """True where git would ignore `relative`; the deepest .gitignore that says anything decides."""
        full = os.path.normpath(os.path.join(self._base, relative))
        below = os.path.dirname(full)
        while True:
            spec = self._specs.get(below)
            if spec is not None:
                verdict = _ask(spec, full, below, is_folder)
                if verdict is not None:
                    return verdict
            if below == self._top or len(below) <= len(self._top):
                break
            below = os.path.dirname(below)
        return bool(self._lowest is not None and _ask(self._lowest, full, self._top, is_folder))

    def _read(self, folder: str) -> None:
        lines = _lines(os.path.join(folder, ".gitignore"))
        if lines:
            self._specs[os.path.normpath(folder)] = compiled(lines)


def _ask(spec: object, full: str, base: str, is_folder: bool) -> bool | None:
    name = os.path.relpath(full, base) + ("/" if is_folder else "")
    return spec.check_file(name).include  # type: ignore[attr-defined]


def _lines(path: str) -> list[str]:
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(path, flags), "rb") as file:
            text = file.read(_LIMIT + 1)
    except OSError:
        return []
    if len(text) > _LIMIT:
        return []
    return (
        text.decode("utf-8", "surrogateescape")
        .removeprefix("\ufeff")
        .replace("\r\n", "\n")
        .split("\n")
    )


def _repository(folder: str) -> str | None:
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _exclude_file(top: str) -> str:
    git = os.path.join(top, ".git")
    if os.path.isfile(
        git
    ):  # a worktree or submodule: `gitdir: PATH`, whose `commondir` has the rules
        for line in _lines(git):
            if line.startswith("gitdir:"):
                git = os.path.join(top, line[7:].strip())
        for line in _lines(os.path.join(git, "commondir"))[:1]:
            git = os.path.join(git, line.strip())
    return os.path.join(git, "info", "exclude")


def _prefixes(relative: str) -> list[str]:
    parts = [] if relative == "." else relative.split(os.sep)
    return [os.path.join(*parts[: n + 1]) for n in range(len(parts))]
