"""`fdc lint --staged`: lints what the next commit would hold, in a private copy of git's index."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Callable

from ... import durable
from ...exits import UsageError, WorldError
from ...linking.project.places import MAX_FILE
from ...linking.project.quiet_git import ask_git, why_not
from ...report.terminal.terminal_text import visible
from ...sandbox.scratch import scratch
from ...workspace import allowances
from ...workspace.confirmed_settings import settings_of
from .options import Options

PREFIX = "fdc-staged-"
"""What the name of the private copy begins with."""

_OTHERS = ("fix", "unsafe_fixes", "diff", "changed", "watch", "write_baseline")
"""Options that change files, or that need the working tree."""

_MOST_POINTER = 1024
"""The most bytes of a pointer of Git LFS."""

_SECONDS = 600
"""The most that git may take for each of its parts."""


def lint_staged(options: Options, root: str, lint: Callable[[Options], int]) -> int:
    """Lints the workspace at `root` as it is in the index; returns the exit code. Raises UsageError, WorldError.

    The verdict is that of a fresh clone of the commit that `git commit` would make now. Neither changes that were not
    added, nor files that git does not track, nor records in `.fdc/` change it; what this user confirmed counts.
    """
    paths = options["paths"]
    assert isinstance(paths, list)
    for name in _OTHERS:
        if options[name]:
            raise UsageError(f"`--staged` cannot be used with `--{name.replace('_', '-')}`")
    if "-" in paths:
        raise UsageError("`--staged` lints what is in git's index; it cannot be used with stdin")
    here = os.getcwd()
    with scratch(PREFIX) as folder:
        copy = _copied(root, folder)

        def moved(path: object) -> str:
            """The path in the copy of a path that was given in the folder `here`. Raises UsageError."""
            above, name = os.path.split(os.path.abspath(os.path.join(here, str(path))))
            place = os.path.join(os.path.realpath(above), name)
            below = os.path.relpath(place, os.path.realpath(root))
            if below.split(os.sep)[0] == os.pardir:
                raise UsageError(f"`{path}` is outside of the workspace `{root}`")
            return os.path.normpath(os.path.join(copy, below))

        options = {**options, "staged": False, "workspace": copy}
        options["no_cache"] = True  # findings are cached by folder, and this one is new each time
        if options["output"]:
            options["output"] = os.path.join(here, str(options["output"]))
        given = [*paths, *([options["baseline"]] if options["baseline"] else ())]
        for path in given:
            if not os.path.lexists(moved(path)):
                raise UsageError(f"`{path}` is not in git's index; `git add` adds a file to it")
        if allowances.confirmed(root, settings_of(copy).allow):
            options["trust_settings"] = True
        try:
            there = moved(here)
        except UsageError:  # `--workspace` names another folder
            there = copy
        os.makedirs(there, exist_ok=True)  # the index may hold nothing of it
        options["paths"] = [os.path.relpath(moved(path), there) for path in paths]
        if options["baseline"]:
            options["baseline"] = os.path.relpath(moved(options["baseline"]), there)
        os.chdir(there)
        try:
            return lint(options)
        finally:
            os.chdir(here)


def _copied(root: str, folder: str) -> str:
    """Writes the workspace's files as they are in the index below `folder`; returns the copy of the workspace."""
    try:
        prefix = _git(root, "rev-parse", "--show-prefix")
    except WorldError as failed:
        raise UsageError(
            f"`--staged` needs a git repository that you can read: {failed}"
        ) from failed
    index = os.environ.get("GIT_INDEX_FILE")  # that of `git commit FILE` has a name of its own
    listed = _git(root, "ls-files", "--unmerged", "--full-name", "-z", ":/", index=index)
    if listed:
        name = visible(os.fsdecode(listed.partition(b"\0")[0]).partition("\t")[2])
        raise WorldError(f"`{name}` has a conflict of a merge: resolve it, then `git add` the file")
    tree = _git(root, "write-tree", index=index)
    top = os.path.join(os.path.realpath(folder), "top")
    copy = os.path.normpath(os.path.join(top, os.fsdecode(prefix).rstrip("\n")))
    os.makedirs(copy)
    _write(root, os.fsdecode(tree).strip(), top, copy, os.path.join(folder, "index"))
    return copy


def _write(root: str, tree: str, top: str, copy: str, index: str) -> None:
    """Writes the part of a tree or commit below the folder `root` to `copy`; `top` stands for the top of its repository.

    The index made for it has neither files of `git add --intent-to-add` nor the marks of a sparse checkout. Submodules
    that are checked out are written, too, in the commit that was added.
    """
    _git(root, "read-tree", tree, index=index)
    _git(root, "checkout-index", "--all", f"--prefix={top}/", index=index)
    common = os.fsdecode(_git(root, "rev-parse", "--git-common-dir")).rstrip("\n")
    store = os.path.join(root, common, "lfs", "objects")
    large = store if os.path.isdir(store) else None
    for row in _git(root, "ls-files", "--stage", "-z", index=index).split(b"\0"):
        about, _, name = os.fsdecode(row).partition("\t")
        inner, inner_copy = os.path.join(root, name), os.path.join(copy, name)
        if about.startswith("160000 ") and os.path.lexists(os.path.join(inner, ".git")):
            _write(inner, about.split()[1], inner_copy, inner_copy, index + "-")
        elif large is not None and about.startswith("100"):
            _take_from_lfs(inner_copy, large)


_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n"
)


def _take_from_lfs(path: str, store: str) -> None:
    """Puts the content that Git LFS has in its `store` in place of a pointer to it, as its filter does in a clone.

    git does not start that filter here. A content that is not stored, or larger than what fdc reads, stays a pointer.
    """
    if os.lstat(path).st_size > _MOST_POINTER:
        return
    with open(path, "rb") as file:
        pointer = _POINTER.fullmatch(file.read())
    if pointer is None or int(pointer[2]) > MAX_FILE:
        return
    name = pointer[1].decode("ascii")
    try:
        data = durable.read(os.path.join(store, name[:2], name[2:4], name))
    except OSError:
        return
    if data is not None and hashlib.sha256(data).hexdigest() == name:
        with open(path, "wb") as file:
            file.write(data)


def _git(root: str, *arguments: str, index: str | None = None) -> bytes:
    """The output of git. Raises WorldError with what git says if it fails."""
    try:
        done = ask_git(root, *arguments, index=index, seconds=_SECONDS)
    except FileNotFoundError as missing:
        raise WorldError("`--staged` needs the program `git`") from missing
    except (OSError, subprocess.SubprocessError) as failed:
        raise WorldError(f"git failed: {getattr(failed, 'strerror', None) or failed}") from failed
    if done.returncode:
        raise WorldError(f"`git {arguments[0]}` failed: {why_not(os.fsdecode(done.stderr))}")
    return done.stdout
