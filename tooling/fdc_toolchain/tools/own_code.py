"""Python functions that a catalogue of the workspace names: run in fdc's sandbox, in a process for each call.

Functions of packs run inside of fdc (`python_tools`); every other function is somebody else's code, and never does. It gets
its arguments and gives its result as JSON, sees and writes what its row declares (`own_access`), and is ended when its time
is up.

Which files of the workspace it is made of is part of the program (`modules`, by `linking.project.own_modules`), with their
hashes. They are read here, compared, and handed to the process as they were read: what was not compared is not imported.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import cache
from typing import Any

from ..engine.events import Outcome
from ..engine.ports import Waiting, WorldFailed
from ..packs.index import index
from ..program.causes import FAILURES, FILES, FINAL
from ..program.model import Program, ToolRow
from ..sandbox import python_process, views
from ..sandbox.own_access import Access, access_of, environment
from ..sandbox.sandbox import fence
from ..sandbox.scratch import scratch
from ..sandbox.writable import withdraw
from ..workspace.failure import ToolFailure, from_os
from ..workspace.files import Root
from .context import Context
from .sandboxed import own_folder
from .sandboxed.conversation import Conversation
from .shell import Done, started, told_of
from .under_way import noted

MOST = 128 * 1024 * 1024
"""Maximum bytes of a result, as JSON."""

MENDED = "restore the file, or begin a new run"

_INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "own_code_inside.py")
_OS = {"timeout": TimeoutError, "net": ConnectionError}
_OF_FDC = (
    FILES
    | FINAL
    | {kind for kind, cause in FAILURES.items() if cause == "budget"}
    | {"capability", "result", "sandbox", "shared", "type"}
)
"""Kinds of failures that only fdc can find. Where a function of the workspace meets or declares one, the tool failed."""
_SHOWN = 4096


@cache
def shipped() -> frozenset[str]:
    """The functions of packs in the catalogues of fdc and of packs."""
    from ..linking.catalogue import catalogues, document
    from ..linking.own_row import targets

    packages = tuple(f"{pack.package}." for pack in index().packs.values())
    found: set[str] = set()
    for name in catalogues():
        rows = document(name)
        for row in (*rows["tools"].values(), *rows["predicates"].values()):
            found.update(target for target in targets(row) if target.startswith(packages))
    return frozenset(found)


def renamed(target: str) -> str:
    """The name today of a function that the program of an older fdc names, by what packs say (`renamed.functions`)."""
    names = {old: new for pack in index().packs.values() for old, new in pack.renamed.items()}
    old = max((name for name in names if target.startswith(name)), key=len, default="")
    return names[old] + target.removeprefix(old) if old else target


def is_own(target: str) -> bool:
    """Whether a function is a pack's, which a catalogue of fdc or of a pack names; all others are run in the sandbox."""
    return renamed(target) in shipped()


def differs(program: Program, root: str) -> str | None:
    """Why a program cannot continue in a workspace: a file of its Python tools has changed. Raises OSError."""
    modules = program.get("modules", {})
    if not modules:
        return None if "assumptions" in program else _unhashed(program, root)
    with closing(Root(root)) as opened:
        wrong = [
            path for path, digest in modules.items() if _digest(_found(opened, path)) != digest
        ]
    if not wrong:
        return None
    names = ", ".join(f"`{name}`" for name in wrong[:3]) + (
        f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    )
    return f"{names}, which its tools consist of, changed since the plan was proved; {MENDED}"


def _unhashed(program: Program, root: str) -> str | None:
    """Why a program of 0.1.0 cannot continue: it does not contain the code of the workspace's tools."""
    from ..linking import own_row
    from ..linking.project import own_modules
    from ..linking.project.files import Files

    files = Files(root)
    for rows in (program["tools"], program.get("predicates", {})):
        for name, target in (
            (name, one) for name, row in rows.items() for one in own_row.targets(row)
        ):
            found = own_modules.file_of(target.partition(":")[0].split("."), files)
            if found is not None:
                said = f"fdc 0.1.0 did not record the code of `{name}` (`{found}`)"
                return f"{said}; begin it again with `fdc run`"
    return None


def call(
    target: str,
    declared: ToolRow,
    context: Context,
    modules: Mapping[str, str],
    positional: Iterable[object],
    named: Mapping[str, object],
    key: str = "",
) -> Outcome:
    """The result of `module:function`. Raises ToolFailure, Waiting, WorldFailed, and Interrupted if the controller is ending."""
    sources = _sources(target, context.root, modules)
    given = {
        "target": target, "positional": list(positional), "named": dict(named), "key": key, "modules": sources,
        "root": context.root.path, "package": python_process.PACKAGE,
    }  # fmt: skip
    notes: dict[str, Any] = {}
    if declared.get("run", {}).get("context"):
        given["context"] = {"key": context.key, "run": context.run}
    argv, call = python_process.isolated(_INSIDE), json.dumps(given).encode()
    try:
        return _outcome(target, run(target, argv, call, declared, named, context, notes), notes)
    except ToolFailure as failed:
        if failed.kind != "unavailable":
            raise
        raise ToolFailure(failed.kind, f"{failed}{_linked(target, context)}", None, notes) from None


def _linked(target: str, context: Context) -> str:
    """What to say of a file that would be the module of a function, if a link did not lead to it."""
    from ..linking.project import own_modules
    from ..linking.project.files import Files

    files = Files(context.root.path)
    names = [key for key in own_modules.places_of([target]) if files.is_linked(key)]
    return "".join(
        f"; `{name}` is reached through a link, which fdc does not follow to code"
        for name in names[:1]
    )


def run(
    what: str,
    argv: list[str],
    given: bytes,
    declared: ToolRow,
    named: Mapping[str, object],
    context: Context,
    notes: dict[str, object],
) -> Done:
    """Runs the process of a tool, fenced in as its row and the plans say, to its end. `given`: its input; `what`: its name in
    messages. `notes` is told how it was fenced in. Raises ToolFailure.

    A function of a pack (`run.context`) can ask fdc meanwhile, and keeps files for the run in a folder of its own.
    """
    access = access_of(declared, named)
    seconds = min(
        context.shell_seconds, declared.get("limits", {}).get("seconds", context.shell_seconds)
    )
    if access.writes:
        context.root.open_named()
    settings = context.root.settings() if access.writes else {}
    try:
        within = replace(context, shell_seconds=seconds)
        if declared.get("run", {}).get("context"):
            with closing(Conversation(given, context, what.split(".")[1])) as talk:
                done = _run(argv, talk, access, within, notes)
        else:
            done = _run(argv, given, access, within, notes)
    except ToolFailure as failed:
        raise ToolFailure(failed.kind, f"`{what}`: {failed}", None, notes) from failed
    wrong = context.root.changed(settings) if access.writes else []
    if wrong:
        said = ", ".join(f"`{name}`" for name in wrong)
        raise ToolFailure(
            "protected",
            f"`{what}` changed {said}, settings of fdc that steps must not change",
            None,
            notes,
        )
    return done


def _sources(target: str, root: Root, modules: Mapping[str, str]) -> dict[str, str]:
    """The sources of the workspace's modules, each what the program was made of. Raises ToolFailure (`changed`)."""
    sources = {}
    for path, digest in modules.items():
        data = _found(root, path)
        if data is None or _digest(data) != digest:
            what = "is gone" if data is None else "has changed"
            raise ToolFailure(
                "changed",
                f"`{path}` {what} since the plan was proved, so `{target}` is not run; {MENDED}",
            )
        sources[path] = data.decode("latin-1")
    return sources


def _found(root: Root, path: str) -> bytes | None:
    try:
        return root.find(path)
    except ToolFailure:
        return None


def _digest(data: bytes | None) -> str:
    return "" if data is None else hashlib.blake2b(data, digest_size=32).hexdigest()


def _run(
    argv: list[str],
    given: bytes | Conversation,
    access: Access,
    context: Context,
    notes: dict[str, Any],
) -> Done:
    root = context.root
    idle = (
        not access.writes and access.reads is not None and not access.reads
    )  # it sees nothing of the workspace
    was = views.Before({}, frozenset()) if idle else views.before(root)
    talk = given if isinstance(given, Conversation) else None
    kept = "" if talk is None else own_folder.of(context, talk.pack)
    with scratch() as folder, tempfile.TemporaryFile() as file:
        if isinstance(given, bytes):
            file.write(given)
            file.seek(0)
        own = own_folder.lay_out(kept, folder) if kept else None
        inside = {
            **environment(access, folder),
            "FDC_RUN": context.run,
            "FDC_KEY": context.key,
            "PWD": root.path,
        }
        fenced = fence(
            argv, root=root, scratch=folder, environment=inside, was=was, run=context.run, grants=context.grants,
            operator=context.operator, access=access,
        )  # fmt: skip
        notes.update(fenced.notes)
        made = fenced.made
        held = access.writes and fenced.tier != "none"
        try:
            with noted(
                root, context.key, context.run_folder, was, context.grants, made, own, held=held
            ):
                try:
                    done = started(
                        fenced.argv,
                        context,
                        root.path,
                        merge=False,
                        most=MOST,
                        given=file.fileno() if talk is None else talk.theirs.fileno(),
                        talk=talk,
                    )
                finally:
                    if own is not None:
                        own_folder.take_back(own)
                    withdraw(made, root.path)
                    made = ()
                    wrong = (
                        views.taken(root, was, context.grants, _refused(context)) if held else []
                    )
        finally:
            withdraw(made, root.path)
    if wrong:
        notes["refused"] = wrong
        raise ToolFailure("protected", f"it created {told_of(wrong, _refused(context), root.path)}")
    return done


def _refused(context: Context) -> str:
    return os.path.join(context.run_folder, "refused") if context.run_folder else ""


def _outcome(target: str, done: Done, notes: dict[str, Any]) -> Outcome:
    if done.cut:
        raise ToolFailure("size", f"`{target}` returned more than {MOST} bytes", None, notes)
    try:
        said = json.loads(done.output)
        (kind,) = said.keys() - {"usage"}
        told, usage = said[kind], _usage(said.get("usage"))
    except (ValueError, AttributeError, TypeError, RecursionError):
        how = (
            f"signal {done.exit_code - 128}"
            if done.exit_code > 128
            else f"exit code {done.exit_code}"
        )
        last = done.errors[-_SHOWN:].decode("utf-8", "replace")
        raise ToolFailure(
            "error",
            f"`{target}` ended with {how} before it returned",
            None,
            {**notes, "output": last},
        ) from None
    if kind == "value":
        return Outcome(told, None, usage, notes)
    raise _raised(
        target,
        kind,
        told,
        usage,
        {**notes, "output": done.errors[-_SHOWN:].decode("utf-8", "replace")},
    )


def _usage(said: Any) -> dict[str, float] | None:
    if not isinstance(said, dict):
        return None
    return {
        str(name): float(number)
        for name, number in said.items()
        if isinstance(number, (int, float)) and number >= 0
    }


def _raised(
    target: str, kind: str, told: Any, usage: dict[str, float] | None, notes: dict[str, Any]
) -> Exception:
    """The exception for an exception of the function, as if it had been called here."""
    if kind == "waiting":
        return Waiting(str(told))
    if kind == "world":
        return WorldFailed(str(told))
    if kind == "unavailable":
        return ToolFailure("unavailable", f"`{target}` {told}", None, notes)
    if kind == "unsaid":
        return ToolFailure(
            "tool", f"the tool returned a value that JSON cannot represent: {told}", None, notes
        )
    if kind == "failure" and _texts(told, 2):
        said = told[1] if len(told[1]) <= _SHOWN else f"{told[1][:_SHOWN]}..."
        return ToolFailure("error" if told[0] in _OF_FDC else told[0], said, usage, notes)
    if kind == "os" and isinstance(told, list) and len(told) == 4:
        return _of_system(target, told, notes)
    name, text = told if _texts(told, 2) else ("", str(told))
    return ToolFailure("error", f"`{target}` raised {name}: {text}", usage, notes)


def _texts(value: Any, count: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == count
        and all(isinstance(one, str) for one in value)
    )


def _of_system(target: str, told: list[Any], notes: dict[str, Any]) -> Exception:
    number, reason, name, how = told
    what = f"`{target}`" + (f", {name}" if name else "")
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):  # the sandbox says it so
        why = "a Python tool of the workspace can access only what its row declares (`access`) and the plans allow"
        return ToolFailure("error", f"{what}: {str(reason).lower()}; {why}", None, notes)
    # URLError has no number of its own, and the text of another error
    numbers = (number,) if isinstance(number, int) else ()
    failed = _OS.get(how, OSError)(*numbers, str(reason))
    found = from_os(failed, what)
    if isinstance(found, ToolFailure) and found.kind in _OF_FDC:
        return ToolFailure("error", str(found), None, notes)
    return found
