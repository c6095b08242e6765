"""Builds and checks the files that agents read, in a workspace: gathers the sources, compiles, writes all or nothing."""

from __future__ import annotations

import errno
import os
import posixpath
from collections.abc import Mapping
from types import MappingProxyType

from .. import durable
from ..diagnostics.diagnostic import Diagnostic, ordered
from ..diagnostics.span import Span
from ..exits import Refused
from ..linking.project.discover import SKIPPED
from ..linking.project.files import refusal
from ..linking.project.ignored import Ignored
from ..linking.project.places import Inside
from ..linking.project.settings import read_settings
from ..named_tuples import NamedTuple
from . import layout
from .budget import Row
from .checks import unusable
from .compile import Build, BuildOptions, WorkspaceView, compile_agents
from .drift import drift, leftover, same
from .load import SOURCES
from .regions import take
from .seal import is_for, is_sealed
from .targets import TARGETS, named

OVERRIDE = "AGENTS.override.md"
"""What Codex reads in place of the AGENTS.md beside it."""


class Written(NamedTuple):
    """The result of a build: the compiled files, the paths that were written, the old files that were removed."""

    build: Build
    written: tuple[str, ...]
    removed: tuple[str, ...]


class _Compiled(NamedTuple):
    """The compiler's result, and old nested files of an earlier build: those unchanged since, and those changed."""

    build: Build
    untouched: tuple[str, ...]
    changed: tuple[str, ...]


def build(root: str, options: BuildOptions) -> Written:
    """Compiles the sources in `how.source` of the workspace `root` and writes every file, all of them or none.

    Where a finding stops the build nothing is written. Nested files of an earlier build that are not
    among the outputs are removed if they are unchanged; FDC511 names the others. A killed build
    leaves each file complete, and the next build continues. Raises OSError, and Refused where no sources exist and an
    existing file would be emptied.
    """
    compiled, untouched, changed = _compiled(root, options)
    if not compiled.outputs:
        return Written(compiled, (), ())
    present = durable.read(os.path.join(root, options.output))
    if (
        not compiled.sources
        and not options.force
        and present
        and present != compiled.outputs[0].text.encode()
    ):
        raise Refused(
            f"no file below `{options.source}` is a protocol source ({', '.join('*' + end for end in SOURCES)}), so "
            f"{options.output} would lose all its text; it was left as it is. "
            "`--source DIR` names another folder, `--force` builds it empty"
        )
    memory = {os.path.join(root, path): data for path, data in compiled.memory}
    files = {path: data for path, data in memory.items() if durable.read(path) != data}
    paths_written = []
    for output in reversed(
        compiled.outputs
    ):  # AGENTS.md itself last: until then a rule may be in two files, but never in none
        real = _target(root, output.path)
        if not same(output.text, durable.read(real)):
            files[real] = output.text.encode("utf-8")
            paths_written.append(output.path)
    if files or untouched:
        durable.replace_all(files, [os.path.join(root, path) for path in untouched])
    return Written(
        compiled._replace(findings=[*compiled.findings, *map(_changed_leftover, changed)]),
        tuple(paths_written),
        untouched,
    )


def _target(root: str, path: str) -> str:
    """The real path of an output. A person may name a place outside of the workspace, a link in it may not."""
    if os.path.isabs(path) or os.path.normpath(path).startswith("../"):
        return os.path.realpath(os.path.join(root, path))
    return durable.inside(root, path)


def check(root: str, options: BuildOptions) -> tuple[Build, list[Diagnostic]]:
    """The build, without writing it, and every difference between the files and what it would write: FDC504 and FDC511."""
    compiled, untouched, changed = _compiled(root, options)
    wrong: list[Diagnostic] = []
    for output in compiled.outputs:
        wrong += drift(output.text, durable.read(os.path.join(root, output.path)), output.path)
    if compiled.outputs:
        wrong += [*map(leftover, untouched), *map(_changed_leftover, changed)]
    return compiled, wrong


def shown(path: str, root: str) -> str:
    """The path as messages and compiled files show it: relative to the workspace if it is inside."""
    inside = os.path.relpath(path, root)
    return path if inside.startswith("..") else inside.replace(os.sep, "/")


def foresee(
    root: str, options: BuildOptions, overlay: Mapping[str, bytes]
) -> tuple[Build, tuple[str, ...]]:
    """The result of a build, and the files that it would remove, if the files in `overlay` had these bytes. Writes nothing."""
    compiled, untouched, _ = _compiled(root, options, overlay)
    return compiled, untouched


def _compiled(
    root: str, options: BuildOptions, overlay: Mapping[str, bytes] = MappingProxyType({})
) -> _Compiled:
    instructions, nested = _agent_files(root, options)
    sealed = {
        path for path, (_, text) in nested.items() if is_sealed(text) and not take(text).regions
    }
    version_file, version = version_of(root, options.source)
    around = WorkspaceView(
        present=lambda path: durable.read(os.path.join(root, path)),
        is_folder=lambda path: os.path.isdir(os.path.join(root, path)),
        same=lambda path, other: _links_to(os.path.join(root, path), os.path.join(root, other)),
        others={path: size for path, size in instructions.items() if path not in sealed},
        above=_above(root),
        version_file=version_file,
    )
    sources = _sources(root, options.source)
    sources.update((path, data) for path, data in overlay.items() if path in sources)

    def look(path: str) -> str | None:
        return overlay[path].decode("utf-8", "replace") if path in overlay else tool(root, path)

    compiled_files = compile_agents(sources, version, look, options, around)
    wrong = unusable(root, options.source, sources) if compiled_files.outputs else []
    if wrong:
        compiled_files = compiled_files._replace(
            outputs=(), memory=(), findings=ordered([*compiled_files.findings, *wrong])
        )
    compiled, main = {output.path for output in compiled_files.outputs}, named(options.output)
    old = sorted(path for path, (scope, _) in nested.items() if main.path(scope) not in compiled)
    return _Compiled(
        compiled_files,
        tuple(path for path in old if path in sealed),
        tuple(path for path in old if path not in sealed),
    )


def version_of(root: str, source: str) -> tuple[str, bytes | None]:
    """The path and the bytes of the protocols' version: a `VERSION` beside them, else that of the workspace."""
    beside = posixpath.join(source, "VERSION")
    data = _read(os.path.join(root, beside), root)
    return (
        ("VERSION", _read(os.path.join(root, "VERSION"), root)) if data is None else (beside, data)
    )


def _sources(root: str, source: str) -> dict[str, bytes]:
    top = os.path.join(root, source)
    files, beside = source_files(top, root), os.path.join(top, layout.NAME)
    data = _read(beside, root)
    return files if data is None else {**files, shown(beside, root): data}


def _raise(failed: OSError) -> None:
    """For a folder that cannot be listed: without its sources the build would drop their rules."""
    if not isinstance(failed, FileNotFoundError | NotADirectoryError):
        raise failed


def source_files(folder: str, root: str, endings: tuple[str, ...] = SOURCES) -> dict[str, bytes]:
    """The protocol sources below a folder, in whatever subfolder, by the path that messages show. Raises OSError."""
    files = {}
    for here, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        for name in sorted(names):
            if name.endswith(endings):
                path = os.path.join(here, name)
                files[shown(path, root)] = _read(path, root) or b""
    return files


def _read(path: str, root: str) -> bytes | None:
    """A source of AGENTS.md. Raises OSError for a link of the workspace that leads out of it, and for a secret file: what is
    built from them is committed, and agents read it."""
    data, key = durable.read(path), os.path.relpath(path, root)
    if data is not None and not key.startswith("../"):
        inside = Inside(root)
        linked = inside.target(key) != key
        if why := refusal(inside, key, read_settings(root).secret if linked else ()):
            raise OSError(errno.EPERM, why, path)
    return data


def tool(root: str, path: str) -> str | None:
    """The source of a tool by its path; None for a path outside of the workspace, or without a file."""
    parts = path.split("/")
    if ".." in parts or path.startswith("/") or "\0" in path:
        return None
    data = _read(os.path.join(root, *parts), root)
    return None if data is None else data.decode("utf-8", "replace")


def _agent_files(
    root: str, options: BuildOptions
) -> tuple[dict[str, int], dict[str, tuple[str, str]]]:
    """The sizes of the workspace's AGENTS.md files, and the folder and text of each nested file that fdc wrote.

    What lies in folders that git ignores is of another project, and in no clone.
    """
    ignored = Ignored(root)
    kinds = [named(options.output), *TARGETS.values()]
    names = {posixpath.basename(kind.path("x")) for kind in kinds} | {"AGENTS.md", OVERRIDE}
    sizes: dict[str, int] = {}
    nested: dict[str, tuple[str, str]] = {}
    for folder, folders, entries in os.walk(root):
        here = os.path.relpath(folder, root)
        ignored.enter(here)
        folders[:] = sorted(
            name
            for name in folders
            if name not in SKIPPED and not ignored(os.path.join(here, name), True)
        )
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
    data = durable.read(path) or b"" if os.path.isfile(path) else b""
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


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
    message = f"`{path}` is left over from an earlier build and was changed since"
    help_ = "no source is for this folder any more: move the text that you want to keep, then delete the file"
    return Diagnostic(Span(path, 1, 1, 1, 2), "FDC511", message, help=help_)
