"""Selects the plans of `fdc lint --changed REF`: changed plans, and plans whose verdict depends on a changed file."""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
from collections.abc import Callable, Iterable

from ...cache.blob_ids import Contents
from ...exits import UsageError, WorldError
from ...linking.project.quiet_git import ask_git, why_not
from ...linking.project.settings import Settings
from .options import Options

_BY_THEMSELVES = (".js", ".json", ".yaml", ".yml")
"""Suffixes of other tools' plans whose findings depend on their own text only; Markdown names other files."""


def affected(
    options: Options,
    root: str,
    settings: Settings,
    keys: list[str],
    contents: Contents,
    touched: set[str],
) -> list[str]:
    """The plans among `keys` whose verdict may differ from that at the revision, given the paths `touched`."""
    from ...linking.link import Linker
    from .incremental import judged_table
    from .parallel import processes

    words = repr([options[word] for word in ("fsm", "profile")] + [settings.trusted])
    if not touched or not keys:
        return []
    shared, table, calls = judged_table(
        Linker(root, settings), keys, contents, words, processes(options["jobs"]), afresh=False
    )
    meets = _meeting(touched)
    if meets(shared.ids):  # every verdict depends on these: settings, catalogues, registries
        return keys
    found = set()
    for key in calls:
        files, probes = table.rests_on([key])
        if meets([key, *files, *probes]):
            found.add(key)
    while True:
        more = {key for key, callees in calls.items() if not found.isdisjoint(callees)} - found
        if not more:
            return [key for key in keys if key in found]
        found |= more


def touched_paths(options: Options, root: str) -> set[str]:
    """The paths that differ from the revision, with their folders and links. Raises UsageError, WorldError."""
    names = paths(root, str(options["changed"]))
    return _with_folders([*names, *_through_links(root, set(names))])


def of_others(keys: tuple[str, ...], touched: set[str]) -> list[str]:
    """The plans of other tools whose findings may differ, given the paths `touched`."""
    if not touched.isdisjoint(("fdc.toml", "pyproject.toml")):
        return list(keys)
    meets = _meeting(touched)
    return [key for key in keys if touched and (meets([key]) or not key.endswith(_BY_THEMSELVES))]


def _meeting(touched: set[str]) -> Callable[[Iterable[str]], bool]:
    """A function that tells whether one of its paths changed, or is in a changed submodule."""
    repositories = tuple(name for name in touched if name.endswith("/"))

    def meets(paths: Iterable[str]) -> bool:
        return not touched.isdisjoint(paths) or (
            bool(repositories) and any(path.startswith(repositories) for path in paths)
        )

    return meets


def _through_links(root: str, names: set[str]) -> list[str]:
    """The paths of tracked symbolic links whose targets changed."""
    listed = _git(root, "ls-files", "--stage", "-z") if names else b""
    rows = [row for row in (listed or b"").split(b"\0") if row.startswith(b"120000 ")]
    base, found = os.path.realpath(root), []
    for link in (os.fsdecode(row.partition(b"\t")[2]) for row in rows):
        to = os.path.relpath(os.path.realpath(os.path.join(root, link)), base)
        found += [link + name[len(to) :] for name in names if (name + "/").startswith(to + "/")]
    return found


def paths(root: str, revision: str) -> list[str]:
    """The files of the workspace that differ from the revision, and untracked files that git does not ignore.

    The path of a changed submodule or nested repository ends with `/`.
    """
    if not os.path.isabs(root) or revision.startswith("-"):
        raise UsageError(f"`{revision}` is not a revision")
    found = _git(
        root, "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"
    )
    if found is None:
        asked = _asked(root, "rev-parse", "--git-dir")
        if asked.returncode:
            why = why_not(os.fsdecode(asked.stderr))
            raise UsageError(
                f"`--changed` needs a git repository that you can read: `git rev-parse` failed: {why}"
            )
        if revision == "HEAD":  # before the first commit, every file is new
            found = _git(root, "hash-object", "-t", "tree", os.devnull)
    if found is None:
        raise UsageError(
            f"the revision `{revision}` does not exist; write paths before the option: `fdc lint PATHS --changed`"
        )
    commit = found.decode("ascii").strip()
    listed = _git(
        root, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--relative",
        "-z", commit, "--", ".",
    )  # fmt: skip
    others = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    if listed is None or others is None:
        raise WorldError(f"git cannot compare the workspace with `{revision}`")
    return sorted(
        {os.fsdecode(name) for name in (listed + others).split(b"\0") if name}
        | _modules(root, commit)
    )


def _modules(root: str, commit: str) -> set[str]:
    """The changed submodules, with `/` at the end. Runs git in each, because each has its own settings."""
    then = _linked(_git(root, "ls-tree", "-r", "-z", commit))
    now = _linked(_git(root, "ls-files", "--stage", "-z"))
    changed = then.keys() ^ now.keys()
    for name in then.keys() & now.keys():
        if os.path.lexists(os.path.join(root, name, ".git")):
            try:
                as_it_was = not paths(os.path.join(root, name), then[name])
            except UsageError:  # the commit is missing there
                as_it_was = False
            if not as_it_was:
                changed.add(name)
    return {name + "/" for name in changed}


def _linked(listed: bytes | None) -> dict[str, str]:
    """The submodules in git's listing, with their commits."""
    rows = [row.partition(b"\t") for row in (listed or b"").split(b"\0")]
    return {
        os.fsdecode(name): re.findall("[0-9a-f]{40,}", os.fsdecode(about))[0]
        for about, _, name in rows
        if about.startswith(b"160000 ")
    }


def _git(root: str, *arguments: str) -> bytes | None:
    """The output of git; None if it fails."""
    done = _asked(root, *arguments)
    return done.stdout if done.returncode == 0 else None


def _asked(root: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """What git says. Does not start programs that the repository's settings name."""
    try:
        return ask_git(root, *arguments)
    except FileNotFoundError as missing:
        raise WorldError("`--changed` needs the program `git`") from missing
    except (OSError, subprocess.SubprocessError) as failed:
        why = getattr(failed, "strerror", None) or failed
        raise WorldError(f"git failed to list the changes: {why}") from failed


def _with_folders(names: list[str]) -> set[str]:
    """The paths and their parent folders: a verdict may depend on whether a folder exists."""
    out = set(names)
    for name in names:
        folder = posixpath.dirname(name)
        while folder and folder not in out:
            out.add(folder)
            folder = posixpath.dirname(folder)
    return out
