"""Builds and checks the files that agents read, in a workspace: gathers the sources, compiles, writes all or nothing."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from .. import durable
from ..diagnostics.diagnostic import Diagnostic, ordered
from ..diagnostics.span import Span
from ..exits import Refused
from ..linking.project.discover import SKIPPED
from . import layout
from .budget import Row
from .checks import unusable
from .compile import Build, How, Surroundings, compile_agents
from .drift import drift, leftover
from .load import SOURCES
from .regions import take
from .seal import is_for, is_sealed
from .targets import TARGETS, named

OVERRIDE = "AGENTS.override.md"
"""What Codex reads in place of the AGENTS.md beside it."""


class Written(NamedTuple):
    """What a build has done: the compiled files, which of them were written anew, which leftovers were removed."""

    build: Build
    written: tuple[str, ...]
    removed: tuple[str, ...]


class _Made(NamedTuple):
    """What the compiler made, and nested files of an earlier build that are not among it: untouched, and changed since."""

    build: Build
    untouched: tuple[str, ...]
    changed: tuple[str, ...]


def build(root: str, how: How) -> Written:
    """Compiles the sources in `how.source` of the workspace `root` and writes every file, all of them or none.

    Where a finding stops the build nothing is written. Nested files of an earlier build that are not
    among the outputs are removed if they are unchanged; FDC511 names the others. A killed build
    leaves each file whole, and the next one does the rest. Raises OSError, and Refused where no sources exist and the
    file that is there would be emptied.
    """
    made, untouched, changed = _compiled(root, how)
    if not made.outputs:
        return Written(made, (), ())
    there = durable.read(os.path.join(root, how.output))
    if not made.sources and not how.force and there and there != made.outputs[0].text.encode():
        raise Refused(
            f"no file below `{how.source}` is a protocol source ({', '.join('*' + end for end in SOURCES)}), so {how.output} "
            "would lose all that it says; it was left as it is. `--source DIR` names another folder, `--force` builds it empty"
        )
    memory = {os.path.join(root, path): data for path, data in made.memory}
    files = {path: data for path, data in memory.items() if durable.read(path) != data}
    written = []
    for output in reversed(
        made.outputs
    ):  # AGENTS.md itself last: in between a rule may be there twice, but never nowhere
        real = os.path.realpath(os.path.join(root, output.path))
        data = output.text.encode("utf-8")
        if durable.read(real) != data:
            files[real] = data
            written.append(output.path)
    if files or untouched:
        durable.replace_all(files, [os.path.join(root, path) for path in untouched])
    return Written(
        made._replace(findings=[*made.findings, *map(_changed_leftover, changed)]),
        tuple(written),
        untouched,
    )


def check(root: str, how: How) -> tuple[Build, list[Diagnostic]]:
    """The build, unwritten, and every way in which the files are not what it would write: FDC504 and FDC511."""
    made, untouched, changed = _compiled(root, how)
    wrong: list[Diagnostic] = []
    for output in made.outputs:
        wrong += drift(output.text, durable.read(os.path.join(root, output.path)), output.path)
    if made.outputs:
        wrong += [*map(leftover, untouched), *map(_changed_leftover, changed)]
    return made, wrong


def shown(path: str, root: str) -> str:
    """The path as messages and compiled files name it: relative to the workspace where it lies in there."""
    inside = os.path.relpath(path, root)
    return path if inside.startswith("..") else inside.replace(os.sep, "/")


def foresee(root: str, how: How, overlay: Mapping[str, bytes]) -> tuple[Build, tuple[str, ...]]:
    """What a build would make, and which files it would remove, if the files in `overlay` had these bytes. Writes nothing."""
    made, untouched, _ = _compiled(root, how, overlay)
    return made, untouched


def _compiled(root: str, how: How, overlay: Mapping[str, bytes] = MappingProxyType({})) -> _Made:
    instructions, nested = _found(root, how)
    whole = {
        path for path, (_, text) in nested.items() if is_sealed(text) and not take(text).regions
    }
    version_file, version = version_of(root, how.source)
    around = Surroundings(
        present=lambda path: durable.read(os.path.join(root, path)),
        is_folder=lambda path: os.path.isdir(os.path.join(root, path)),
        same=lambda path, other: _links_to(os.path.join(root, path), os.path.join(root, other)),
        others={path: size for path, size in instructions.items() if path not in whole},
        above=_above(root),
        version_file=version_file,
    )
    sources = _sources(root, how.source)
    sources.update((path, data) for path, data in overlay.items() if path in sources)

    def look(path: str) -> str | None:
        return overlay[path].decode("utf-8", "replace") if path in overlay else tool(root, path)

    made = compile_agents(sources, version, look, how, around)
    wrong = unusable(root, how.source, sources) if made.outputs else []
    if wrong:
        made = made._replace(outputs=(), memory=(), findings=ordered([*made.findings, *wrong]))
    compiled, main = {output.path for output in made.outputs}, named(how.output)
    old = sorted(path for path, (scope, _) in nested.items() if main.path(scope) not in compiled)
    return _Made(
        made,
        tuple(path for path in old if path in whole),
        tuple(path for path in old if path not in whole),
    )


def version_of(root: str, source: str) -> tuple[str, bytes | None]:
    """Where the version of the protocols is, and what is there: a `VERSION` beside them, else that of the workspace."""
    beside = posixpath.join(source, "VERSION")
    data = durable.read(os.path.join(root, beside))
    return (
        ("VERSION", durable.read(os.path.join(root, "VERSION"))) if data is None else (beside, data)
    )


def _sources(root: str, source: str) -> dict[str, bytes]:
    files = {}
    top = os.path.join(root, source)
    for folder, folders, names in os.walk(top):
        folders.sort()
        for name in names:
            if name.endswith(SOURCES) or (name == layout.NAME and folder == top):
                path = os.path.join(folder, name)
                files[shown(path, root)] = durable.read(path) or b""
    return files


def tool(root: str, path: str) -> str | None:
    """A tool's source; only files of this workspace are tools."""
    parts = path.split("/")
    if ".." in parts or path.startswith("/") or "\0" in path:
        return None
    data = durable.read(os.path.join(root, *parts))
    return None if data is None else data.decode("utf-8", "replace")


def _found(root: str, how: How) -> tuple[dict[str, int], dict[str, tuple[str, str]]]:
    """The size of every AGENTS.md in the workspace, and of every nested file that fdc wrote its folder and its text."""
    kinds = [named(how.output), *TARGETS.values()]
    names = {posixpath.basename(kind.path("x")) for kind in kinds} | {"AGENTS.md", OVERRIDE}
    sizes: dict[str, int] = {}
    nested: dict[str, tuple[str, str]] = {}
    for folder, folders, entries in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in names.intersection(entries):
            path = os.path.join(folder, name)
            inside = shown(path, root)
            if name in ("AGENTS.md", OVERRIDE) and os.path.isfile(path):
                sizes[inside] = os.path.getsize(path)
            for scope in filter(None, (kind.scope(inside) for kind in kinds)):
                text = _text(path)
                if is_for(text, scope):
                    nested[inside] = scope, text
    return sizes, nested


def _text(path: str) -> str:
    return (durable.read(path) or b"").decode("utf-8", "replace") if os.path.isfile(path) else ""


def _above(root: str) -> tuple[Row, ...]:
    """The instruction files between the top of the repository and the workspace, if that is not the top itself."""
    folders = []
    folder = root
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ()
        folder = parent
        folders.append(folder)
    rows = []
    for folder in reversed(folders):
        for name in (OVERRIDE, "AGENTS.md"):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                rows.append(
                    Row(os.path.relpath(path, root), "(above the workspace)", os.path.getsize(path))
                )
                break
    return tuple(rows)


def _links_to(path: str, other: str) -> bool:
    return os.path.islink(path) and os.path.realpath(path) == os.path.realpath(other)


def _changed_leftover(path: str) -> Diagnostic:
    message = f"`{path}` is left over from an earlier build and holds text of somebody's own"
    help_ = "no source is for this folder any more: move what is worth it, then delete the file"
    return Diagnostic(Span(path, 1, 1, 1, 2), "FDC511", message, help=help_)
