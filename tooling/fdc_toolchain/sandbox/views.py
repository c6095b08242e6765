"""What a command sees of a workspace and may write: what plans allow, except protected files and text from outside.

`linking.project.protected` says what is protected. Of that, what lies in the workspace when a command begins is kept from it
by the kernel, in every tier; what it makes new below a folder that it may write is taken away again when it has ended (`taken`).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ..linking.project.protected import Protection, folded_name, packages, protected
from ..linking.project.secret_files import secret
from ..named_tuples import NamedTuple
from ..program.model import Grant
from ..workspace.access import project_file
from ..workspace.access.named_files import by_name
from ..workspace.failure import ToolFailure
from ..workspace.files import Root
from . import listing, writable

if TYPE_CHECKING:
    from .own_access import Access

OUTSIDE = "outside"
"""The folder of a run for text from outside, `runs/NAME/outside/`, which commands cannot see."""

MOST = 2000
"""Maximum number of protected files and folders in a workspace while a command runs."""


class View(NamedTuple):
    """Absolute paths. `write`: what the command may write, but for `kept`, which is protected, and `hidden`, which it does not
    even see (folders for text from outside, fdc's records, files that hold secrets). `made`: what was made for it
    (`writable.withdraw`).
    `reads`: what it sees of the workspace; None: all of it."""

    write: list[str]
    kept: list[str]
    hidden: list[str]
    made: list[str]
    reads: list[str] | None = None


class Before(NamedTuple):
    """What was protected in a workspace when a command began: path below the root to what a link leads to, else an empty text.
    `project`: what `pyproject.toml` was (`project_file`)."""

    entries: dict[str, str]
    environments: frozenset[str]
    project: str | None = None


def before(root: Root) -> Before:
    """The outermost existing protected entries. Raises ToolFailure (`sandbox`) if there are too many."""
    environments: set[str] = set()
    entries = {}
    if root.guarded:
        for path in _entries(root, environments, None):
            entries[path] = _link(os.path.join(root.path, path))
            if len(entries) > MOST:
                raise ToolFailure(
                    "sandbox",
                    f"more than {MOST} protected files are in the workspace (`{path}` is the last one)",
                )
    return Before(entries, frozenset(environments), project_file.found(root))


def taken(root: Root, was: Before, grants: Sequence[Grant], into: str) -> list[str]:
    """What a command made of protected entries that it may not make; it is moved to the folder `into`, and links are as before.

    Nothing of the command lives any more. `into` empty: what it made stays where it is, and is only named.
    """
    wrong = []
    for path in _entries(root, set(), was) if root.guarded else ():
        known = was.entries.get(path)
        found = protected(path, root.protected, root.protect)
        if known is not None and known == _link(os.path.join(root.path, path)):
            continue
        allowed = found is None or by_name(found.entry, grants) and not found.never
        if allowed and not listing.too_long(os.path.join(root.path, path)):
            continue
        if writable.is_held_or_gone(os.path.join(root.path, path)):
            continue
        wrong.append(path)
    gone = [
        path
        for path, link in was.entries.items()
        if link and not os.path.islink(os.path.join(root.path, path))
    ]
    if root.guarded and project_file.differ(was.project, project_file.found(root)):
        wrong.append(project_file.NAME)
    if into:
        if wrong:
            root.move_out(wrong, into)
        if project_file.NAME in wrong:
            project_file.put_back(root, was.project)
        for path in {*gone, *(path for path in wrong if was.entries.get(path))}:
            with suppress(
                OSError
            ):  # what is not a folder now holds no link, and the step has failed
                root.link_again(path, was.entries[path])
    return sorted({*wrong, *gone})


def view(root: Root, grants: Sequence[Grant], run: str, was: Before) -> View:
    """The view of a command under these grants in the run `run`. Raises ToolFailure (`sandbox`), OSError."""
    write, made = writable.writable(root.path, grants, _closed(root, grants))
    kept = {os.path.join(root.path, path) for path in was.entries} - set(write)
    hidden = []
    if root.guarded:
        own = os.path.join(root.path, ".git")
        # An empty one, too: it was made for another command, which takes it away, or an fdc that was killed has left it.
        if root.path in write and _none_or_folder(own):
            writable.hold(root.path, own, made)
            kept.add(own)
        hidden = [
            *_hidden(root.path, run, made),
            *_records(root, was),
            *_secrets(root.granted(grants)),
        ]
    return View(write, sorted(kept - set(hidden)), hidden, made)


def of_git(root: Root, grants: Sequence[Grant], run: str, was: Before) -> View:
    """The view of fdc's own git command: it writes `.git` and nothing else."""
    made: list[str] = []
    hidden = _hidden(root.path, run, made)
    return View([os.path.join(root.path, ".git")], [], hidden, made)


def of_tool(root: Root, grants: Sequence[Grant], access: Access, was: Before) -> View:
    """The view of a Python tool of the workspace: what its row declares, without secrets and what is protected.

    What it may write, every plan on the stack has to allow as well; what is protected, by name.
    """
    write, made = (
        writable.writable(root.path, (*grants, access.grant), _closed(root, grants))
        if access.writes
        else ([], [])
    )
    kept = {os.path.join(root.path, path) for path in was.entries} - set(write)
    own = os.path.join(root.path, ".git")
    if root.guarded and root.path in write and _none_or_folder(own):
        writable.hold(root.path, own, made)
        kept.add(own)
    reads = (
        None
        if access.reads is None
        else [os.path.join(root.path, path) for path in access.reads if path]
    )
    opened = {*write, *(os.path.join(root.path, path) for path in access.named)}
    looked_at = {os.path.join(root.path, path) for path in access.git}
    closed = [
        path for path in kept - looked_at if not _opens(path[len(root.path) + 1 :], opened, root)
    ]
    withheld = set(_secrets(root.granted(grants)))
    closed += [path for path in _secrets(root) if path not in opened or path in withheld]
    # No folder is made for it, as for a command: the flow analysis counts with a tool that reads what comes meanwhile.
    closed += _hidden(root.path, "", made)
    if reads is not None:
        there = [
            path for path in reads if os.path.exists(path) and writable.leads_there(root.path, path)
        ]
        reads = [path for path in there if not any(_below(path, one) for one in closed)]
    shown = [root.path] if reads is None else [*reads, *write]
    hidden = {
        path
        for path in closed
        if not os.path.islink(path) and any(_below(path, one) for one in shown)
    }
    outermost = sorted(
        path for path in hidden if not any(path != one and _below(path, one) for one in hidden)
    )
    left = sorted(path for path in kept if not any(_below(path, one) for one in outermost))
    return View(write, left, outermost, made, reads)


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def _opens(entry: str, opened: set[str], root: Root) -> bool:
    """Whether a row names a protected entry, or something in it, that may be looked at where it is named."""
    found = protected(entry, root.protected, root.protect)
    whole = os.path.join(root.path, entry)
    return found is not None and not found.never and any(_below(one, whole) for one in opened)


def _closed(root: Root, grants: Sequence[Grant]) -> writable.Closed:
    def closed(path: str) -> bool | None:
        found = protected(path, root.protected, root.protect) if root.guarded else None
        return None if found is None else found.never or not by_name(found.entry, grants)

    return closed


def _hidden(root: str, run: str, made: list[str]) -> list[str]:
    """The folders of text from outside, of all runs; that of this one is there, or another step of it could make it meanwhile.

    An empty one of another run hides nothing, and may be gone at any moment: another fdc has made it for a command of its own.
    """
    runs = os.path.join(root, "runs")
    own = os.path.join(runs, run, OUTSIDE) if run else ""
    above = (runs, os.path.join(runs, run))
    if run and all(os.path.isdir(folder) or not os.path.lexists(folder) for folder in above):
        # where a file is in the way, no step makes one
        if os.path.realpath(own) == os.path.join(os.path.realpath(root), "runs", run, OUTSIDE):
            writable.hold(root, own, made)
    try:
        names = sorted(os.listdir(runs)) if not os.path.islink(runs) else []
    except OSError:
        return []
    paths = [
        os.path.join(runs, name, OUTSIDE)
        for name in names
        if not os.path.islink(os.path.join(runs, name))
    ]
    return [
        path
        for path in paths
        if os.path.isdir(path) and not os.path.islink(path) and (path == own or not _is_empty(path))
    ]


def _records(root: Root, was: Before) -> list[str]:
    """The folders of fdc's records, which also contain text from outside."""
    paths = [
        os.path.join(root.path, path)
        for path in was.entries
        if folded_name(os.path.basename(path)) == ".fdc"
    ]
    return [path for path in paths if os.path.isdir(path) and not os.path.islink(path)]


def _is_empty(folder: str) -> bool:
    try:
        return not os.listdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _secrets(root: Root) -> list[str]:
    """Files with secrets in the workspace that no plan names, and sockets at which a program listens. Installed packages are not
    searched. A folder that may be entered and not listed may hold some, so it counts as one.

    Raises ToolFailure (`sandbox`) where that is too much.
    """
    found: list[str] = []
    work = [""]
    while work:
        folder = work.pop()
        try:
            rows = listing.rows(os.path.join(root.path, folder) if folder else root.path)
        except PermissionError:
            if folder and listing.may_be_entered(os.path.join(root.path, folder)):
                found.append(os.path.join(root.path, folder[:-1]))
            continue
        except OSError:
            continue
        for name, is_folder, is_link, special in rows:
            path = folder + name
            if is_link:
                continue
            if secret(path, root.secret) is not None:
                if root.withheld(path):
                    found.append(os.path.join(root.path, path))
            elif special and listing.answers(os.path.join(root.path, path)):
                found.append(os.path.join(root.path, path))
            elif (
                is_folder
                and name not in (".git", ".fdc")
                and not packages(os.path.join(root.path, path))
            ):
                work.append(path + "/")
        if len(found) > MOST:
            raise ToolFailure(
                "sandbox",
                f"more than {MOST} files with secrets are in the workspace (`{path}` is the last one)",
            )
    return sorted(found)


def _entries(root: Root, environments: set[str], was: Before | None) -> Iterator[str]:
    """The outermost protected entries. Installed packages (`linking.project.protected.packages`) are not searched.

    `was`: what there was when the command began, whose folders of packages count; None: it begins now, and `environments`
    learns those that are found. A folder that may be entered and not listed counts as protected; one that the command made
    so is opened for its owner. Raises ToolFailure (`sandbox`) where the path of a folder is too long when it begins; one of a
    command counts as protected.
    """
    known = None if was is None else was.environments
    protection = Protection(root.protected, root.protect)
    work = [""]
    while work:
        folder = work.pop()
        try:
            rows = listing.rows(os.path.join(root.path, folder) if folder else root.path)
        except PermissionError:
            if was is None or folder[:-1] in was.entries:
                if folder and listing.may_be_entered(os.path.join(root.path, folder)):
                    yield folder[:-1]
            elif listing.opened_again(root.path, os.path.join(root.path, folder)):
                work.append(folder)
            continue
        except OSError:
            continue  # it is gone
        for name, is_folder, _, _ in rows:
            path = folder + name
            if protection.lists(path, is_folder):
                yield path
            elif is_folder and name != "node_modules":
                if known is None and packages(os.path.join(root.path, path)):
                    environments.add(path)
                elif known is None or path not in known:
                    if not listing.too_long(os.path.join(root.path, path)):
                        work.append(path + "/")
                    elif was is not None:
                        yield path
                    else:
                        raise ToolFailure(
                            "sandbox",
                            f"the path of a folder is longer than {listing.LONGEST} bytes (`{path[:60]}...`), so fdc cannot "
                            "look for protected files and secrets in it",
                        )


def _none_or_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except FileNotFoundError:
        return True


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def without(path: str, closed: Sequence[str]) -> Iterator[str]:
    """`path` where nothing in it is closed; else what is in it and is not, and nothing of what may be made there."""
    if path in closed:
        return
    below = [one for one in closed if one.startswith(path + "/")]
    if not below:
        yield path
        return
    try:
        with os.scandir(path) as found:
            inside = sorted(one.path for one in found if not one.is_symlink())
    except OSError:
        return
    for one in inside:
        yield from without(one, below)


def mounts(seen: View) -> list[tuple[str, str]]:
    """What to mount in which order, each over what is there: path, and `open`, `kept`, `hidden`, or `nothing` for a hidden file.

    What has a mount on it cannot be renamed or deleted; so every folder above something that is kept gets one, too.
    """
    rows = dict.fromkeys(seen.write, "open")
    for paths, how in ((seen.kept, "kept"), (seen.hidden, "hidden")):
        for path in paths:
            around = [folder for folder in seen.write if path.startswith(folder + "/")]
            if how == "kept" and (not around or os.path.islink(path)):
                continue  # not to be written there anyway; what becomes of a link is looked at afterwards
            rows[path] = "nothing" if how == "hidden" and not os.path.isdir(path) else how
            for folder in around:
                above = os.path.dirname(path)
                while len(above) > len(folder):
                    rows.setdefault(above, "open")
                    above = os.path.dirname(above)
    return sorted(rows.items(), key=lambda row: (row[0].count("/"), row[0]))
