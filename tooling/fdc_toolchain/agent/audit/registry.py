"""Changes and audits the plan registry of a workspace (FDC-42 to FDC-45).

Every change is: take the lock, read, decide, write the whole file anew, let go. So changes made
at the same moment are all kept, and a kill leaves the file as it was before or after.
"""

from __future__ import annotations

import json
import os

from ... import durable
from ...diagnostics.diagnostic import Diagnostic, ordered
from ...diagnostics.span import Span
from ...linking.registry import (
    REGISTRY,
    Registry,
    name_fault,
    path_fault,
    places,
    read_registry,
    shown,
)
from ...named_tuples import NamedTuple
from ...text.suggest import did_you_mean

_TOP = Span(REGISTRY, 1, 1, 1, 1)


class Outcome(NamedTuple):
    """What became of a wish: done or refused, said in one line, with the findings that explain a refusal."""

    done: bool
    message: str
    findings: tuple[Diagnostic, ...] = ()


def load(root: str) -> tuple[Registry, list[Diagnostic]]:
    """The registry of the workspace at `root`. Raises OSError where its file cannot be read."""
    return read_registry(durable.read(_file(root)), REGISTRY)


def is_missing(root: str) -> bool:
    """True where the workspace has no registry file; it is then read as an empty one (C-13)."""
    return not os.path.exists(os.path.join(root, *REGISTRY.split("/")))


def register(root: str, name: str, path: str, *, timeout: float = durable.LOCK_TIMEOUT) -> Outcome:
    """Adds `name` for the plan at `path` (absolute, or relative to `root`) (FDC-43).

    Refused, and nothing is written: a name outside the pattern or taken, a path that leads to no
    file or out of the workspace, a damaged registry. Raises TimeoutError for a lock that stays
    taken, OSError where the system refuses.
    """
    fault = name_fault(name)
    if fault:
        return Outcome(False, fault)
    stored, fault = _stored(root, path)
    if fault:
        return Outcome(False, fault)
    file = _file(root)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with durable.exclusive(file, timeout=timeout):
        registry, findings = load(root)
        if findings:
            return _damaged(findings)
        current = registry.resolve(name)
        if current is not None:
            return Outcome(
                False,
                f"`{name}` is already registered, for `{current}`; deregister it first to change it",
            )
        _write(file, {**registry.entries, name: stored})
    return Outcome(
        True,
        f"Successfully registered '{name}' -> '{stored}'",
        tuple(_shadow(root, name, stored, _TOP)),
    )


def deregister(root: str, name: str, *, timeout: float = durable.LOCK_TIMEOUT) -> Outcome:
    """Removes `name` and nothing else (FDC-44). Refused where it is not registered or the registry is damaged."""
    if is_missing(root):
        return _unknown(name, Registry(REGISTRY))
    file = _file(root)
    with durable.exclusive(file, timeout=timeout):
        registry, findings = load(root)
        if findings:
            return _damaged(findings)
        if name not in registry.entries:
            return _unknown(name, registry)
        _write(file, {known: path for known, path in registry.entries.items() if known != name})
    return Outcome(True, f"Successfully deregistered '{name}'")


def audit(root: str) -> list[Diagnostic]:
    """Everything that is wrong with the registry of a workspace (FDC-42, C-13); empty when it is sound.

    The file is absent or damaged, a name that no call can say, a path that leads to no plan of this
    workspace (dead, a folder, out of it through a link), a name that hides a file of the same name.
    """
    data = durable.read(_file(root))
    if data is None:
        help_ = "`plan_manager register NAME PATH` makes it"
        return [Diagnostic(_TOP, "FDC329", "the workspace has no plan registry", help=help_)]
    registry, findings = read_registry(data, REGISTRY)
    where = places(data, REGISTRY)
    for name, path in registry.entries.items():
        span = where.get(name, _TOP)
        fault = name_fault(name)
        if fault:
            findings.append(Diagnostic(span, "FDC328", fault))
        _, fault = _stored(root, path)
        if fault:
            help_ = f"`plan_manager deregister {shown(name)}` removes it"
            findings.append(
                Diagnostic(span, "FDC328", f"`{shown(name)}` leads to no plan: {fault}", help=help_)
            )
        findings += _shadow(root, name, path, span)
    return ordered(findings)


def _file(root: str) -> str:
    """The registry's real file: a linked registry is changed where it lies, and only inside the workspace."""
    return durable.inside(root, REGISTRY)


def _stored(root: str, path: str) -> tuple[str, str | None]:
    """The path as the registry keeps it, or why it cannot be kept."""
    quoted = f"`{shown(path)}`"
    if "\0" in path or not path:
        return "", path_fault(path)
    top = os.path.realpath(root)
    folder, file = os.path.split(os.path.join(top, path))
    if file in ("", ".", ".."):
        folder, file = os.path.split(os.path.realpath(os.path.join(folder, file)))
    try:
        full = os.path.join(
            os.path.realpath(folder), file
        )  # a link that is the last part keeps its own name
        target = os.path.realpath(full, strict=True)
    except FileNotFoundError:
        return "", f"{quoted} does not exist"
    except (OSError, ValueError) as refused:
        return "", f"{quoted} cannot be reached: {getattr(refused, 'strerror', None) or refused}"
    if not _inside(top, full) or not _inside(top, target):
        return "", f"{quoted} is outside the workspace `{shown(top)}`"
    if os.path.isdir(target):
        return "", f"{quoted} is a folder; expected a plan's file"
    if not os.path.isfile(target):
        return "", f"{quoted} is not a regular file; expected a plan's file"
    stored = os.path.relpath(full, top).replace(os.sep, "/")
    return stored, path_fault(stored)


def _inside(top: str, path: str) -> bool:
    return os.path.commonpath([top, path]) == top


def _shadow(root: str, name: str, path: str, span: Span) -> list[Diagnostic]:
    """The warning that calls of `name` no longer reach the file of that name: the registry wins (FDC-41)."""
    hidden = os.path.join(root, *name.split("/"))
    registered = os.path.join(root, *path.split("/"))
    try:
        if not os.path.isfile(hidden) or (
            os.path.exists(registered) and os.path.samefile(hidden, registered)
        ):
            return []
    except OSError:
        return []
    message = f"`{shown(name)}` is registered for `{path}` and hides the file of the same name"
    return [
        Diagnostic(
            span,
            "FDC324",
            message,
            help="call the file by another path, such as `./NAME`, or rename one",
        )
    ]


def _write(file: str, entries: dict[str, str]) -> None:
    durable.sweep(file)
    text = json.dumps(entries, indent=2, sort_keys=True, ensure_ascii=False)
    durable.replace(file, text.encode("utf-8") + b"\n")


def _damaged(findings: list[Diagnostic]) -> Outcome:
    return Outcome(False, "the plan registry is damaged and was left untouched", tuple(findings))


def _unknown(name: str, registry: Registry) -> Outcome:
    hint = did_you_mean(name, registry.entries)
    return Outcome(False, f"`{shown(name)}` is not registered" + (f"; {hint}" if hint else ""))
