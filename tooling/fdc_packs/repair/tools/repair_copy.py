"""The copy of a workspace that a repair works in, and commands that run there.

    RUN_FOLDER/copy      the workspace as it was when the repair began, with the patches under test
    RUN_FOLDER/base      the files that may be changed: as they were, with what has been accepted since
    RUN_FOLDER/case.json which files those are, and what they held in the workspace

The workspace itself is only read. A command runs with the copy as its root, fenced in as every
shell step is; Python looks there first, so that a package which is installed from the workspace
(`pip install -e .`) does not bring the unpatched files back.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterable
from typing import Any

from fdc_toolchain.api.files import Root, durable
from fdc_toolchain.api.sandbox import fence, scratch, shell, views
from fdc_toolchain.api.tools import Context, ToolFailure

from .copying import copy_files, copy_tree


def make_copy(
    context: Context, files: Iterable[str], alone: bool = False, named: bool = True
) -> tuple[list[str], list[str]]:
    """Copies the workspace into the run's folder, and takes down what each of `files` holds. Returns which of them are in the
    copy, and what is not in it that git ignores (`copy_tree`), but no file that was `named`.

    `alone`: the copy holds these files and nothing else (HYP-38). Done again, it begins anew. Raises ToolFailure for a
    workspace that is too large to be copied.
    """
    folder, base = copy_of(context), base_of(context)
    for old in (folder, base):
        shutil.rmtree(old, ignore_errors=True)
    making = f"{folder}.making"
    shutil.rmtree(making, ignore_errors=True)
    files, without = list(files), list[str]()
    if alone:
        copy_files(context.root.path, making, files)
    else:
        without = copy_tree(context.root.path, making, files if named else ())
        _end_search(making)
    os.rename(making, folder)
    held = {}
    for path in files:
        if not named and not os.path.lexists(os.path.join(folder, path)):
            continue
        data = read(folder, path)
        held[path] = sha256(data)
        put(base, path, data)
    stamps = {path: _stamp(os.path.join(folder, path)) for path in as_it_is(folder)}
    durable.replace(_stamps(context), json.dumps(stamps, sort_keys=True).encode())
    durable.replace(_manifest(context), json.dumps(held, sort_keys=True).encode())
    return list(held), without


_CONFIGURED = {"pytest.ini": "", ".pytest.ini": "", "pytest.toml": "", "pyproject.toml": "[tool.pytest", "tox.ini": "[pytest]",
               "setup.cfg": "[tool:pytest]"}  # fmt: skip
"""Files that end pytest's search for its settings, and what they must hold for that."""


def _end_search(folder: str) -> None:
    """An empty pytest.ini where the copy has no settings of pytest: else it looks above, where a sandbox lets no one read."""
    for name, section in _CONFIGURED.items():
        path = os.path.join(folder, name)
        if os.path.isfile(path) and section.encode() in read(folder, name):
            return
    with open(os.path.join(folder, "pytest.ini"), "w", encoding="ascii") as out:
        out.write("[pytest]\n")


def as_it_is(folder: str) -> set[str]:
    """The plain files of a copy."""
    return {
        os.path.relpath(os.path.join(at, name), folder)
        for at, folders, names in os.walk(folder)
        for name in names
        if not os.path.islink(os.path.join(at, name))
    }


def put_back(context: Context) -> None:
    """Makes the files of the copy that may not be changed what they were again: wrong code makes tests write what they should
    not, and the next run would read it. What has changed in the workspace, too, stays as it is."""
    folder, root = copy_of(context), context.root.path
    stamps: Any = json.loads(durable.read(_stamps(context)) or b"{}")
    for path in stamps.keys() - held(context).keys():
        now, was = _stamp(os.path.join(folder, path)), tuple(stamps[path])
        if now != was and _stamp(os.path.join(root, path)) == was:
            with contextlib.suppress(
                ToolFailure
            ):  # a link stands there now: nothing is written through it
                put(folder, path, read(root, path))


def _stamp(path: str) -> tuple[int, int] | None:
    """The size of a plain file, and when it was written; None for anything else."""
    if os.path.islink(path) or not os.path.isfile(path):
        return None
    said = os.stat(path)
    return said.st_size, said.st_mtime_ns


def run_in_copy(
    argv: list[str],
    context: Context,
    folder: str,
    environment: dict[str, str] | None = None,
    merge: bool = True,
) -> shell.Done:
    """A command in the copy, both streams together, or (without `merge`) each for itself.

    Raises ToolFailure (`timeout`, `sandbox`, `limit`), Cancelled.
    """
    # the tests of a repair are commands of the operator's, not of a plan: they may start fdc
    inside = {
        **_without_run(shell.environment(context)),
        **_python(folder),
        "PWD": folder,
        **(environment or {}),
    }
    inside["PATH"] = _path(context.root.path, inside.get("PATH", os.defpath))
    root = Root(folder, guarded=False)
    try:
        with scratch() as own:
            fenced = fence(
                argv,
                root=root,
                scratch=own,
                environment=inside,
                was=views.before(root),
                operator=context.operator,
            )
            return shell.started(fenced.argv, context, folder, merge)
    finally:
        root.close()


def looking_first(command: str, hidden: str) -> list[str]:
    """A shell's command in which Python looks into the folder `hidden` first, also where it sets PYTHONPATH itself."""
    first = f"PYTHONPATH={shlex.quote(hidden)}{os.pathsep}"
    return ["bash", "-c", re.sub(r"(?<!\w)PYTHONPATH=", lambda _: first, command)]


def _python(folder: str) -> dict[str, str]:
    """Python's path in the copy; nothing is compiled into it, because a patched file can be as old and as long as before."""
    places = [folder, os.path.join(folder, "src")]
    return {
        "PYTHONPATH": os.pathsep.join(one for one in places if os.path.isdir(one)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _path(root: str, path: str) -> str:
    """PATH with the programs of the workspace's own environments, which the copy links to."""
    found = []
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and os.path.exists(
                os.path.join(entry.path, "pyvenv.cfg")
            ):
                found.append(os.path.join(entry.path, "bin"))
            if entry.name == "node_modules" and os.path.isdir(os.path.join(entry.path, ".bin")):
                found.append(os.path.join(entry.path, ".bin"))
    return os.pathsep.join(
        [path, *sorted(one for one in found if one not in path.split(os.pathsep))]
    )


def copy_of(context: Context) -> str:
    """The copy's folder."""
    return os.path.join(context.run_folder, "copy")


def base_of(context: Context) -> str:
    """Where the files lie that may be changed, with what has been accepted."""
    return os.path.join(context.run_folder, "base")


def held(context: Context) -> dict[str, str]:
    """What the files that may be changed held when the copy was made. Raises ToolFailure where no copy exists."""
    data = durable.read(_manifest(context))
    if data is None or not os.path.isdir(copy_of(context)):
        raise ToolFailure(
            "missing", "the copy that the repair worked in is gone; begin a new repair"
        )
    found: Any = json.loads(data)
    return {str(path): str(digest) for path, digest in found.items()}


def read(folder: str, path: str) -> bytes:
    """A file of the copy or the base; never through a link. Raises ToolFailure, OSError."""
    root = Root(folder)
    try:
        return root.read(path)
    finally:
        root.close()


def put(folder: str, path: str, data: bytes) -> None:
    """Makes `data` a file's content, all of it or nothing; its permissions stay.

    Never through a link: what was tested may have put one there that leads into the workspace. Raises ToolFailure.
    """
    os.makedirs(folder, exist_ok=True)
    root = Root(folder, guarded=False)
    try:
        root.write(path, data, "write", path)
    finally:
        root.close()


def sha256(data: bytes) -> str:
    """The digest that says whether a file is still what it was."""
    return hashlib.sha256(data).hexdigest()


def patched(context: Context) -> set[str]:
    """The file of the copy that holds a patch under test, if one does."""
    old = durable.read(mark(context))
    return {old.decode()} if old else set()


def mark(context: Context) -> str:
    """Where it stands which file of the copy holds a patch under test."""
    return os.path.join(context.run_folder, "patched")


def _manifest(context: Context) -> str:
    return os.path.join(context.run_folder, "case.json")


def _stamps(context: Context) -> str:
    return os.path.join(context.run_folder, "stamps.json")


def _without_run(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name != "FDC_RUN"}
