"""What else is obeyed in a workspace, because a link or the settings of git lead there.

The names are those of `linking.project.protected`.

Where `AGENTS.md` is a link to `docs/rules.md`, that file is what agents obey. Where `core.hooksPath` is `tools/hooks`, git
runs what lies there. Read without git: no process is started, and what cannot be read leads nowhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .protected import ANYWHERE, TOP, folded_name, own_environment

if TYPE_CHECKING:
    from .settings import Settings

_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"[^"]*")?\s*\]')
_ROW = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*(.*)")
_KEYS = frozenset(
    ("core.hookspath", "core.attributesfile", "core.fsmonitor", "include.path", "includeif.path")
)
_MOST = 1 << 20


def obeyed(root: str) -> tuple[str, ...]:
    """Paths of the workspace that a link with a protected name leads to, at its top, or that git's settings name."""
    root = os.path.realpath(root)
    found = [os.path.realpath(path) for path in (*_links(root), *_of_git(root))]
    return tuple(
        dict.fromkeys(
            os.path.relpath(path, root) for path in found if path.startswith(root + os.sep)
        )
    )


def _links(root: str) -> Iterator[str]:
    try:
        with os.scandir(root) as entries:
            names = sorted(one.name for one in entries if one.is_symlink())
    except OSError:
        return
    yield from (
        os.path.join(root, name)
        for name in names
        if folded_name(name) in ANYWHERE or folded_name(name) in TOP
    )


def _of_git(root: str) -> Iterator[str]:
    own = os.path.join(root, ".git")
    if not os.path.lexists(own):
        return
    folder = own
    if os.path.isfile(own):  # a work tree of a repository elsewhere
        folder = _path(_text(own).removeprefix("gitdir:").strip(), root)
        yield folder
    common = _text(os.path.join(folder, "commondir")).strip()
    folders = [folder, *([_path(common, folder)] if common else [])]
    yield from folders[1:]
    configs = [os.path.join(one, name) for one in folders for name in ("config", "config.worktree")]
    home = os.path.expanduser("~")
    there = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    for config in (
        *configs,
        os.path.join(home, ".gitconfig"),
        os.path.join(there, "git", "config"),
        "/etc/gitconfig",
    ):
        for key, value in _rows(_text(config)):
            yield _path(value, os.path.dirname(config) if key.endswith(".path") else root)


def _path(value: str, start: str) -> str:
    """A path of git's settings, as it stands from the folder `start`."""
    return os.path.join(start, os.path.expanduser(value))


def _rows(text: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in text.splitlines():
        head = _SECTION.match(line)
        if head is not None:
            section, line = head[1].lower(), line[head.end() :]
        row = _ROW.match(line)
        if row is not None and f"{section}.{row[1].lower()}" in _KEYS:
            yield f"{section}.{row[1].lower()}", re.split(r"\s[#;]", row[2])[0].strip().strip('"')


def _text(path: str) -> str:
    """The beginning of a regular file, empty where there is none to be read."""
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(_MOST)
    except (OSError, ValueError):
        return ""


def of_workspace(root: str, settings: Settings, plans: Iterable[str], path: str) -> tuple[str, ...]:
    """Globs of what is protected in this workspace beside the list: what its settings say, what they obey (automaton, protocols),
    its registered `plans`, where links of protected names and the settings of git lead, and folders of `path` (a PATH) in it
    that belong to no environment of its own."""
    found = [*settings.protect, settings.fsm, settings.protocols, *plans, *obeyed(root)]
    root = os.path.realpath(root)
    for folder in path.split(os.pathsep):
        inside = os.path.realpath(folder) if os.path.isabs(folder) else ""
        name = os.path.relpath(inside, root) if inside.startswith(root + "/") else ""
        if name and not own_environment(inside):
            found.append(name)
    return tuple(dict.fromkeys(one for one in found if one))
