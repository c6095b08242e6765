"""Checks that steps access only what `allow` names, in plans that have `allow` lines.

A plan without an `allow` line allows everything that the workspace does. One with any allows
only what it names, for itself and for every plan that it calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..diagnostics.diagnostic import Diagnostic, Label
from ..diagnostics.span import Span
from ..linking.catalogue import reads_at_large, runs_plan
from ..linking.graph import Instance
from ..linking.model import Act, Invoke, Loop, Unit
from ..syntax.values import Value
from ..text.glob_match import compiled, matches, within
from .solver.granted_paths import Known, Meaning, covered, everything, listed, meant
from .solver.rule import Context

_HELP = "a plan with `allow` lines needs one for everything that it accesses: add it above the first step"
_COMPUTED = "a value may contain slashes, so `FOLDER/**` names such a path, and `FOLDER/*` does not"
_WRITES = ("create", "write", "edit", "delete")
_MOST_MEANINGS = 16
"""A plan is judged so often with what its parameters stand for; after that they may be anything."""


def check(context: Context) -> Iterator[Diagnostic]:
    """Every step outside the grant of its plan or of a calling plan."""
    for instance in context.order:
        if instance.unit.allow and not instance.context:
            yield from _judge(instance, context)


def _judge(root: Instance, context: Context) -> Iterator[Diagnostic]:
    probes = context.probes.setdefault(root.unit.key, set())

    def folder(path: str) -> bool:
        probes.update((path, f"{path}/"))
        return context.linker.files.kind(path) == "folder"

    seen: dict[int, list[Known]] = {}
    said: set[tuple[Span, str]] = set()
    work: list[tuple[Instance, Meaning, Span | None]] = [
        (root, Meaning.of_root(root.unit, folder), None)
    ]
    for instance, meaning, outer in work:  # grows while it is gone through
        unit = instance.unit
        for node, known in meaning.steps():
            if isinstance(node, Invoke):
                callee = instance.callees[node.number]
                if callee is None:
                    continue
                given = meaning.called(node, callee.unit, known)
                before = seen.setdefault(id(callee), [])
                if len(before) >= _MOST_MEANINGS:
                    given = {}
                if given not in before:
                    before.append(given)
                    inner = Meaning(callee.unit, given, folder)
                    work.append((callee, inner, outer or unit.span(node.call)))
                continue
            statement = node.step if isinstance(node, Act) else node.node
            for message in _outside(node, known, root.unit):
                span = unit.span(statement)
                if (span, message) in said:
                    continue
                said.add((span, message))
                word = "step" if isinstance(node, Act) else "loop"
                labels = () if outer is None else (Label(span, f"this {word}"),)
                advice = f"{_HELP}; {_COMPUTED}" if "{" in message else _HELP
                yield Diagnostic(outer or span, "FDC451", message, labels, help=advice)


def _outside(node: Act | Loop, known: Known, grant: Unit) -> Iterator[str]:
    if isinstance(node, Act):
        yield from _step_outside(node, known, grant)
    elif node.over is not None and not listed(
        node.over, known, grant.allow.get("read", []), folder=False
    ):
        yield f"`for_each_file` may read `{node.over.text}`, which `allow read` does not name"


def _step_outside(act: Act, known: Known, grant: Unit) -> Iterator[str]:
    for access, value in act.bound.files:
        kind = "write" if access in _WRITES else "read"
        if not covered(meant(value, known), grant.allow.get(kind, [])):
            yield f"`{act.step.tool}` may {kind} `{value.text}`, which `allow {kind}` does not name"
    reads = grant.allow.get("read", [])
    for parameter in act.bound.tool.parameters:
        if parameter.kind == "glob" and parameter.access is None:
            pattern = act.bound.arguments.get(parameter.name)
            shown = "**" if pattern is None else pattern.text
            if not (
                everything(reads) if pattern is None else listed(pattern, known, reads, folder=True)
            ):
                yield f"`{act.step.tool}` may read `{shown}`, which `allow read` does not name"
    if reads_at_large(act.bound.tool.row) and not everything(reads):
        yield f"`{act.step.tool}` may read any file, which needs `allow read **`"
    for kind, globs in act.bound.tool.row.get("access", {}).items():
        if kind in ("read", "write"):
            allowed = grant.allow.get(kind, [])
            named = [compiled([(False, glob.text)]) for glob in allowed if "{" not in glob.text]
            for glob in globs:
                if not everything(allowed) and not within(glob, named):
                    yield f"`{act.step.tool}` may {kind} `{glob}`, which `allow {kind}` does not name"
    if runs_plan(act.bound.tool.row):
        return  # each step of the plan that it runs is held to the same grants
    if act.bound.tool.row.get("writes") == "unknown" and "run" not in grant.allow:
        yield f"`{act.step.tool}` runs a command, which needs `allow run *`"
    if act.bound.tool.trust == "untrusted":
        yield from _net_outside(act, grant.allow.get("net"))


def _net_outside(act: Act, hosts: list[Value] | None) -> Iterator[str]:
    if hosts is None:
        yield f"`{act.step.tool}` uses the network, which needs `allow net *`"
    elif any(glob.text in ("*", "**") for glob in hosts):
        return
    elif act.bound.tool.row.get("access", {}).get("net"):
        yield f"`{act.step.tool}` may reach any host, which needs `allow net *`"
    elif not any("{" in glob.text for glob in hosts):
        for parameter in act.bound.tool.parameters:
            value = act.bound.arguments.get(parameter.name) if parameter.sink == "url" else None
            host = None if value is None else _host(value.text)
            if host is not None and not any(matches(host, glob.text) for glob in hosts):
                yield f"`{act.step.tool}` reaches `{host}`, which `allow net` does not name"


def _host(address: str) -> str | None:
    """The host of an address, where the text says it."""
    known = address.partition("{")[0]
    if known != address and not re.match(r"\w+://[^/?#]*[/?#]", known):
        return None
    from urllib.parse import urlsplit  # few plans name an address

    try:
        host = urlsplit(known).hostname or ""
        return host if ":" in host else host.encode("idna").decode("ascii").lower() or None
    except ValueError:
        return None
