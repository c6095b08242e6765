"""Finds the plans that a command line names: files as given, folders searched.

Linter and formatter share it, and a clean lint runs it on every start: nothing but `os` is
imported. A `.gitignore` is read with `pathspec` only where a name below it could match one of
its lines at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from .regular_file import read
from .stat_cache import Seen, folder_stamp

SKIPPED = frozenset(
    (
        ".fdc", ".fdc_cache", ".git", ".hg", ".hypothesis", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache",
        ".svn", ".tox", ".venv", "__pycache__", "node_modules", "site-packages",
    )
)  # fmt: skip
"""Folders that are never searched, unless they are named themselves."""


def is_plan(name: str) -> bool:
    """True for the file names by which folders are searched: `*.plan`, `*.plan.txt`, `plan.txt`."""
    return name.endswith((".plan", ".plan.txt")) or name == "plan.txt"


_TEXTS = frozenset(("txt", "text", "pln", "fdc"))


def is_other_text(name: str) -> bool:
    """True for file names that people give to plans and that a search passes over: `build_plan.txt`, `PLAN`, `plan.md`."""
    stem, dot, suffix = name.rpartition(".")
    return (
        suffix in _TEXTS
        or "plan" in name.lower()
        and (suffix == "md" or not dot and bool(stem or suffix))
    )


_OF_OTHERS = (".js", ".mjs", ".md", ".markdown", ".mdc", ".json", ".yml", ".yaml")


def may_be_of_others(name: str) -> bool:
    """True for file names that plans of other tools, or plans in Markdown, may have; the content decides."""
    return name.lower().endswith(_OF_OTHERS)


def is_of_others(folder: str, name: str) -> bool:
    """True where a file is a plan of another tool by its folder and name: then a search finds it."""
    if name == "tasks.md":
        parts = folder.split("/")
        return "specs" in parts or "openspec" in parts and "archive" not in parts
    if name == "tasks.json":
        return "/.taskmaster" in folder
    if name.endswith((".js", ".mjs")):
        above, _, last = folder.rpartition("/")
        return last == "workflows" and above.rpartition("/")[2].startswith(".")
    return name.endswith((".yml", ".yaml")) and "/.specify/workflows" in folder


def find_keys(arguments: list[str], root: str, exclude: tuple[str, ...], seen: Seen) -> list[str]:
    """The keys of the plans that `arguments` mean, sorted: paths from `root`, absolute ones for plans outside of it.

    Like `find_plans`. `seen` collects what the answer depends on, except the files of the keys themselves.
    """
    keys: set[str] = set()
    below = root + "/"
    for argument in arguments:
        absolute = os.path.abspath(argument)
        if os.path.isdir(argument):
            for _, folder, names in _search(argument, root, exclude, seen):
                start = (
                    ""
                    if folder == root
                    else folder[len(below) :] + "/"
                    if folder.startswith(below)
                    else folder + "/"
                )
                keys.update([start + name for name in names])
        else:
            key = absolute[len(below) :] if absolute.startswith(below) else absolute
            if may_be_of_others(key):
                seen.of_others.append(key)
            else:
                keys.add(key)
    return sorted(keys)


def find_plans(arguments: list[str], root: str, exclude: tuple[str, ...] = ()) -> list[str]:
    """The plans that `arguments` mean, each once, in the order of the arguments; a folder's own are sorted.

    A file that is named is meant, whatever it is called and whether it exists or not. A folder means
    the plans in it and below, without what `SKIPPED`, a `.gitignore` between the workspace `root`
    and the plan, or `exclude` (written as in a `.gitignore`, from the root) leaves out. Raises OSError
    for a folder that cannot be read.
    """
    plans_by_path: dict[str, str] = {}
    for argument in arguments:
        if os.path.isdir(argument):
            folders = _search(argument, root, exclude, Seen())
            paths = [os.path.join(shown, name) for shown, _, names in folders for name in names]
            for path in sorted(paths, key=lambda path: path.split(os.sep)):
                plans_by_path.setdefault(os.path.normpath(path), path)
        else:
            plans_by_path.setdefault(os.path.normpath(argument), argument)
    return list(plans_by_path.values())


def _search(
    folder: str, root: str, exclude: tuple[str, ...], seen: Seen
) -> list[tuple[str, str, list[str]]]:
    """(the folder as the user would write it, its absolute path, the names of its plans) of each folder with plans."""
    base = os.path.abspath(folder)
    above = _above(base, os.path.abspath(root), exclude, seen)
    out: list[tuple[str, str, list[str]]] = []
    work = [("" if folder == os.curdir else folder, base, above)]
    below = os.path.abspath(root) + "/"
    while work:
        shown, absolute, rules = work.pop()
        before = folder_stamp(absolute)
        try:
            with os.scandir(absolute) as listing:
                entries = list(listing)
        except PermissionError as failed:
            raise PermissionError(failed.errno, _CLOSED, absolute) from failed
        listed = tuple([entry.name for entry in entries])
        seen.folders[absolute] = (before, listed)
        if ".gitignore" in listed:
            rules = (*rules, _Rules(absolute, _lines(os.path.join(absolute, ".gitignore"), seen)))
        plans = []
        for entry in entries:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                if name not in SKIPPED and not _left_out(rules, absolute, name, True):
                    work.append((os.path.join(shown, name), os.path.join(absolute, name), rules))
            elif is_plan(name):
                if not _is_file(entry):
                    seen.file(os.path.join(absolute, name))
                elif not rules or not _left_out(rules, absolute, name, False):
                    plans.append(name)
            else:
                kept = _passed_over(entry, absolute, seen)
                if kept is not None and not (rules and _left_out(rules, absolute, name, False)):
                    path = os.path.join(absolute, name)
                    kept.append(path.removeprefix(below) if kept is seen.of_others else path)
        if plans:
            out.append((shown, absolute, plans))
    return out


def _passed_over(entry: os.DirEntry[str], folder: str, seen: Seen) -> list[str] | None:
    """The list of `seen` for an entry that is no folder and no plan; None for one that does not matter."""
    name = entry.name
    if entry.is_symlink() and name not in SKIPPED and os.path.isdir(entry.path):
        return seen.others
    if is_other_text(name):
        return seen.others if _is_file(entry) else None
    if name.endswith(_OF_OTHERS) and is_of_others(folder, name) and _is_file(entry):
        return seen.of_others
    return None


_CLOSED = "a folder may not be read; to leave it out, add it to `exclude` in the settings, or to .gitignore"


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file, or a link to one that exists."""
    try:
        return entry.is_file()
    except OSError:
        return False


def _above(base: str, root: str, exclude: tuple[str, ...], seen: Seen) -> tuple[_Rules, ...]:
    """The rules from `root` down to the folder above `base`; none where they leave `base` itself out."""
    if base != root and not base.startswith(root.rstrip(os.sep) + os.sep):
        return ()
    rules: tuple[_Rules, ...] = (_Rules(root, exclude),) if exclude else ()
    folder = root
    for name in base[len(root) :].split(os.sep):
        if not name:
            continue
        rules = (*rules, _Rules(folder, _lines(os.path.join(folder, ".gitignore"), seen)))
        if _left_out(rules, folder, name, True):  # who names such a folder wants what is in it
            return ()
        folder = os.path.join(folder, name)
    return rules


def _left_out(rules: tuple[_Rules, ...], folder: str, name: str, is_folder: bool) -> bool:
    for rule in reversed(rules):
        verdict = rule.ask(folder, name, is_folder)
        if verdict is not None:
            return verdict
    return False


def _lines(path: str, seen: Seen) -> tuple[str, ...]:
    seen.file(path)
    try:
        return tuple(
            read(path).decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
        )
    except OSError:
        return ()


class _Rules:
    """The lines of one .gitignore, about what lies below `folder`."""

    __slots__ = ("folder", "lines", "names", "globs", "spec")

    def __init__(self, folder: str, lines: Iterable[str]) -> None:
        self.folder = folder
        self.lines = [line for line in lines if line.strip() and not line.startswith("#")]
        self.names: set[str] = set()
        self.globs: list[tuple[str, str]] = []
        self.spec: object | None = None
        for line in self.lines:
            last = line.rstrip().rstrip("/").rpartition("/")[2].removeprefix("!")
            if "\\" in last:
                last = "*"
            places = [at for at, character in enumerate(last) if character in "*?["]
            if places:
                end = -1 if "[" in last else places[-1]
                self.globs.append((last[: places[0]], last[end + 1 :] if end >= 0 else ""))
            else:
                self.names.add(last)

    def ask(self, folder: str, name: str, is_folder: bool) -> bool | None:
        """What these lines say about `name` in `folder`: True leaves it out, False keeps it, None says nothing."""
        if name not in self.names:  # a line can only be about what its last part fits
            for a, z in self.globs:
                if name.startswith(a) and name.endswith(z):
                    break
            else:
                return None
        if self.spec is None:
            self.spec = compiled(self.lines)
        path = os.path.relpath(os.path.join(folder, name), self.folder).replace(os.sep, "/")
        verdict: bool | None = self.spec.check_file(path + "/" * is_folder).include  # type: ignore[attr-defined]
        return verdict


def compiled(lines: Iterable[str]) -> object:
    """A test of paths against the lines of a `.gitignore`, as git reads them: a `pathspec.GitIgnoreSpec`."""
    import re

    from pathspec import GitIgnoreSpec

    readable = []
    for line in lines:
        if line.rstrip().endswith("/**"):
            line = line.rstrip() + "/*"  # to git it is what lies inside, to pathspec the folder too
        try:
            GitIgnoreSpec.from_lines([line], backend="simple")
        except (ValueError, re.error):  # git skips a line that it cannot read, and keeps the rest
            continue
        readable.append(line)
    return GitIgnoreSpec.from_lines(readable, backend="simple")
