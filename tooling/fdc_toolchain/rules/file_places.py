"""Paths with which a step fails on every run: outside the workspace, protected, not a file (A8).

The runner refuses these by the same tables (`linking.project.places`, `linking.project.protected`,
`linking.project.secret_files`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from ..linking.bound import every
from ..linking.model import Act, Loop, Node, Unit
from ..linking.project import places
from ..linking.project.files import Files
from ..linking.project.protected import folded_name, opened
from ..syntax.tree import Header, Statement
from ..syntax.values import NamedValues, Value, header_tail
from ..text.later_regex import later
from .solver.files.guard import Guard
from .solver.files.nesting import makes_folder
from .solver.files.paths import path_of
from .solver.flow.data_commands import files_of, is_data_command
from .solver.rule import Context

_OUTSIDE = later(r"(?:\{run\}|runs/[^/{]+)/outside(?:/|$)")
"""A path in the folder of a run for text from outside, as a plan writes it."""

_OF_RUN = later(r"\{run\}(/outside)?|runs/[^/{]+(/outside)")
"""The folder of a run, or the one in it for text from outside, as a plan writes them."""

RUNS = "runs"
"""The parent folder of the runs' folders (`{run}`)."""

_HERE = Span("", 0, 0, 0, 0)
"""The placeholder position of a finding, until the caller sets that of its step."""

_INSIDE = "write a path relative to the workspace's root, inside it"

_CHANGES = ("create", "write", "edit", "delete")


def check(context: Context) -> Iterator[Diagnostic]:
    """FDC415, FDC416, FDC417, FDC418 and FDC716 in every plan that the judged ones reach."""
    guard = context.once(Guard)
    units = {instance.unit.key: instance.unit for instance in context.order}
    outside = context.linker.settings.untrusted or any(
        tool.trust == "untrusted"
        for unit in units.values()
        for tool, _ in context.by_tool[unit.key]
    )
    for unit in units.values():
        probes = context.probes.setdefault(unit.key, set())
        folders = _folders(unit)
        yield from _opened(unit, guard)
        for tool, acts in context.by_tool[unit.key]:
            globs, commands = guard.looks(tool)
            for act in acts:
                if not act.bound.files and not globs and not commands:
                    continue
                for found in of_step(act, unit, guard, folders, globs, probes):
                    yield found._replace(span=unit.span(act.step))
                yield from secrets(read_by(act, globs, commands), unit, guard, act.step)
                for path in _looked_at(act, commands) if outside else ():
                    probes.update((path, path + "/"))
                    above, kind = guard.above(posixpath.normpath(path))
                    if kind == "link":
                        said = f"`{path}` leads through the link `{above}`, perhaps to text from outside"
                        help_ = "name the file itself: the run, too, stops here once it has looked at such text"
                        yield Diagnostic(unit.span(act.step), "FDC415", said, help=help_)
        for loop in loops_in(unit.body):
            if loop.over is not None:
                for found in of_glob(loop.over, slash=False):
                    yield found._replace(span=unit.span(loop.node))
                yield from secrets([loop.over.text], unit, guard, loop.node)
                yield from _changed_in(unit, loop, guard, probes)


def of_step(
    act: Act,
    unit: Unit,
    guard: Guard,
    folders: dict[str, str],
    globs: tuple[str, ...],
    probes: set[str],
) -> Iterator[Diagnostic]:
    """Errors in the files and globs of a step, without a position."""
    for access, value in act.bound.files:
        found = _of_run(act, access, value) or _file(access, value, unit, guard, probes)
        if found is None and folders and value.text in folders and _is_file(act, access):
            message = (
                f"`{value.text}` is used as a file here, and as a folder by `{folders[value.text]}`"
            )
            found = Diagnostic(
                _HERE, "FDC415", message, help="give the file a name that differs from the folder's"
            )
        if found is not None:
            yield found
    for name in globs:
        if name in act.bound.arguments:
            text = act.bound.arguments[name].text
            outside = list(of_glob(act.bound.arguments[name], slash=True))
            yield from outside
            searched = act.bound.tool.name in _SEARCHES and not _MARKED.search(text)
            if searched and text.strip("./") and not outside:
                found = _on_disk("list", posixpath.normpath(text), guard, probes)
                yield from () if found is None else (found,)


def _opened(unit: Unit, guard: Guard) -> Iterator[Diagnostic]:
    """The protected files in the plan's `allow write`: a person must approve the change, else the run stops."""
    if unit.plan is None or not unit.allow.get("write"):
        return
    for node in unit.plan.statements:
        tail = (
            header_tail("allow", node.tail)
            if isinstance(node, Header) and node.keyword == "allow"
            else None
        )
        if not isinstance(tail, NamedValues) or tail.name != "write":
            continue
        for glob in tail.values:
            found = opened(glob.text, guard.settings, guard.more)
            if found is not None:
                what = "" if found.entry == glob.text else f"`{found.entry}` "
                message = f"a person approves a change of `{glob.text}`, which is protected: {what or 'it '}{found.what}"
                help_ = "remove it from `allow write`, and change the file yourself"
                yield Diagnostic(unit.at(node, glob.start, glob.end), "FDC716", message, help=help_)


def refused(path: str, files: Files) -> bool:
    """True for a literal path in its plain form that no file can have, which `check` says."""
    if path == ".." or path.startswith(("/", "../")):
        return True
    end = path.find("/")
    while end >= 0:
        kind = files.kind(path[:end])
        if kind != "folder":
            return kind != "missing"  # then nothing is below it either
        end = path.find("/", end + 1)
    return False


def _of_run(act: Act, access: str, value: Value) -> Diagnostic | None:
    """What is wrong with a file in place of a run's folder for text from outside, and with giving git what it does not see."""
    git = act.bound.tool.name == "git_add"
    if not git and "outside" not in value.text and "{run}" not in value.text:
        return None
    path = posixpath.normpath(value.text)
    if access in ("create", "write") and (folder := _OF_RUN.fullmatch(path)):
        which = " for text from outside" if folder.lastindex else ""
        message = f"`{value.text}` is the run's folder{which}: a step cannot replace it"
        return Diagnostic(
            _HERE, "FDC415", message, help=f"name a file in it, such as `{path}/page.md`"
        )
    if git:
        why = "git cannot use a file that is for text from outside" if _OUTSIDE.match(path) else ""
        names = {folded_name(name) for name in path.split("/")}
        why = "it is not a file that belongs to the workspace" if names & {".git", ".fdc"} else why
        if why:
            message = f"the step fails with `{value.text}`: {why}"
            return Diagnostic(
                _HERE, "FDC484", message, help="use a file of the workspace that commands can see"
            )
    return None


def _file(
    access: str, value: Value, unit: Unit, guard: Guard, probes: set[str]
) -> Diagnostic | None:
    """The error in the path of one use, without a position."""
    text = value.text
    known = guard.plain.get(text)
    if known is not None:
        return _on_disk(access, known, guard, probes)
    literal = "{" not in text
    if literal:
        text = value.literal or ""
        why = places.outside(text) or places.of_folder(text)
    else:
        why = f"`{text}` leaves the workspace with `..`" if ".." in text.split("/") else None
        why = f"`{text}` is not a path relative to the workspace" if text.startswith("/") else why
        why = why or places.of_folder(text)
    why = why or places.of_home(text)
    if why is not None:
        return Diagnostic(_HERE, "FDC416", why, help=_INSIDE)
    if not literal:
        return _computed(text, guard, probes)
    if access in _CHANGES:
        held = guard.refuses(text, unit)
        if held is not None:
            why = f"`{text}`: `{held.entry}` {held.what}; steps must not change it"
            if held.never:
                return Diagnostic(_HERE, "FDC417", why, help="change it yourself, outside a plan")
            return Diagnostic(
                _HERE,
                "FDC417",
                f"{why} without permission",
                help=f"name it in the plan: `allow write {held.entry}`",
            )
    path = "/".join(places.components(text))
    if guard.protected(text) is None:
        guard.plain[value.text] = path
    return _on_disk(access, path, guard, probes)


def _computed(text: str, guard: Guard, probes: set[str]) -> Diagnostic | None:
    """The error of a path with values in it, whose literal beginning goes through something that is not a folder."""
    head = text.partition("{")[0]
    folder = RUNS if text.startswith("{run}") else posixpath.normpath(head[: head.rfind("/") + 1])
    return None if folder == "." else _on_the_way(text, folder, guard, probes)


def _on_the_way(text: str, folder: str, guard: Guard, probes: set[str]) -> Diagnostic | None:
    """The error of a path below a folder that something else takes the place of, or has on its way."""
    above, kind = guard.above(folder)
    last = above.rpartition("/")[0] if kind == "missing" else folder
    probes.update({above, f"{last}/"} - {"", "/"})
    return _through(text, above, guard, probes) if kind not in ("", "missing") else None


def _on_disk(access: str, path: str, guard: Guard, probes: set[str]) -> Diagnostic | None:
    folder = path.rpartition("/")[0]
    found = _on_the_way(path, folder, guard, probes) if folder else None
    if found is not None or folder and guard.above(folder)[1] == "missing":
        return found
    kind = guard.files.kind(path)
    probes.add(path + "/")
    if kind in ("missing", "file") or kind == "folder" and access in ("create", "list"):
        return None
    what = {"folder": "a folder", "link": "a symbolic link"}.get(kind, "not a regular file")
    help_ = (
        f"name a file in it; `list_files {path}` lists them"
        if kind == "folder"
        else "name the file itself"
    )
    needed = "a file or a folder" if access == "list" else "a file"
    return Diagnostic(_HERE, "FDC415", f"`{path}` is {what}: this step needs {needed}", help=help_)


def _through(text: str, folder: str, guard: Guard, probes: set[str]) -> Diagnostic | None:
    """The error of a path below something that is not a folder; None if it is a folder or does not exist."""
    kind = guard.above(folder)[1]
    probes.update((folder, folder + "/"))
    if kind in ("", "missing"):
        return None
    what = "a symbolic link" if kind == "link" else "not a folder when the plan begins"
    own = folder == RUNS
    help_ = (
        f"move `{RUNS}` away: fdc needs this path for the folders of runs"
        if own
        else "use a path that goes through folders only; a file that an earlier step deletes still counts"
    )
    return Diagnostic(
        _HERE, "FDC415", f"`{text}` goes through `{folder}`, which is {what}", help=help_
    )


def of_glob(value: Value, *, slash: bool) -> Iterator[Diagnostic]:
    """The error of a glob or folder that the runner refuses, without a position. `slash`: `/` alone is the workspace."""
    text = value.text
    if slash and not text.strip("/"):
        return
    why = places.of_home(text)
    if ".." in text and ".." in text.split("/"):
        why = f"`{text}` leaves the workspace with `..`"
    elif text.startswith("/") or not text:
        why = f"`{text}` is not relative to the workspace"
    if why is not None:
        yield Diagnostic(_HERE, "FDC416", why, help=_INSIDE)


def read_by(act: Act, globs: tuple[str, ...], commands: tuple[str, ...]) -> Iterator[str]:
    """The literal paths that a step reads: its files, what it searches, what a command that looks at data is given."""
    bound = act.bound
    for access, value in bound.files:
        if (
            access in ("read", "edit")
            or access == "delete"
            and any(other in ("create", "write") for other, _ in bound.files)
        ):
            yield value.text
    for name in globs:
        if name in bound.arguments:
            yield bound.arguments[name].text
    yield from _looked_at(act, commands)


def _looked_at(act: Act, commands: tuple[str, ...]) -> Iterator[str]:
    """The literal paths that a command is given which only reads data."""
    for name in commands:
        given = act.bound.arguments.get(name)
        if given is not None and is_data_command(given):
            found = (pattern.begins for pattern in files_of(given) if pattern.whole)
            yield from (path for path in found if "\0" not in path)


_SEARCHES = ("list_files", "grep")
_MARKED = re.compile(r"[{*?\[\0]")


def secrets(
    paths: Iterable[str], unit: Unit, guard: Guard, node: Statement
) -> Iterator[Diagnostic]:
    for path in paths:
        if path in guard.open:
            continue
        plain = None if _MARKED.search(path) else posixpath.normpath(path)
        if plain is None or guard.secret_at(plain) is None:
            guard.open.add(path)
            continue
        found = guard.withholds(plain, unit)
        if found is not None:
            message = (
                f"`{path}`: `{found.entry}` {found.what}; no step may read it without permission"
            )
            yield Diagnostic(
                unit.span(node),
                "FDC418",
                message,
                help=f"name it in the plan: `allow read {found.entry}`",
            )


def _changed_in(unit: Unit, loop: Loop, guard: Guard, probes: set[str]) -> Iterator[Diagnostic]:
    """Steps that change each file of a glob, where one of these files is protected."""
    if loop.kind != "each" or loop.over is None or "{" in loop.over.text:
        return
    own = {"{" + name + "}" for name in (loop.name, loop.alias) if name}
    changed = [
        (act, value)
        for act in every(loop.body)
        if isinstance(act, Act)
        for access, value in act.bound.files
        if access in _CHANGES and value.text in own
    ]
    if not changed:
        return
    meant = guard.meant(loop.over.text)
    probes.update(meant)
    held = [name for name in meant if guard.files.exists(name) and guard.refuses(name, unit)]
    for act, value in changed if held else ():
        message = f"`{value.text}` is `{held[0]}` in one round, which no step may change without permission"
        yield Diagnostic(
            unit.span(act.step),
            "FDC417",
            message,
            help="change the glob so that it does not match this file",
        )


def _is_file(act: Act, access: str) -> bool:
    return access != "delete" and not makes_folder(act, access)


def _folders(unit: Unit) -> dict[str, str]:
    """The literal paths that are folders of others which the plan creates or writes, each with one of those."""
    out: dict[str, str] = {}
    for act in unit.acts:
        for access, value in act.bound.files:
            if access in ("create", "write") and "/" in value.text and "{" not in value.text:
                path = str(path_of(value)[0])
                above = path
                while "/" in above:
                    above = above.rpartition("/")[0]
                    out.setdefault(above, path)
    return out


def loops_in(nodes: list[Node]) -> list[Loop]:
    """The loops over files."""
    return [node for node in every(nodes) if isinstance(node, Loop) and node.kind == "each"]
