"""Checks that steps access only what `allow` names, in plans that have `allow` lines.

A plan without an `allow` line allows everything that the workspace does. One with any allows
only what it names, for itself and for every plan that it calls.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics.diagnostic import Diagnostic, Label
from ..diagnostics.span import Span
from ..linking.catalogue import reads_at_large, runs_plan
from ..linking.graph import Instance
from ..linking.model import Act, Choice, Loop, Node, Unit
from ..syntax.values import Value
from ..text.glob_match import compiled, matches, within
from .solver.files.paths import path_of
from .solver.rule import Context

_HELP = "a plan with `allow` lines needs one for everything that it accesses: add it above the first step"
_WRITES = ("create", "write", "edit", "delete")


def check(context: Context) -> Iterator[Diagnostic]:
    """Every step outside the grant of its plan or of a calling plan."""
    for instance in context.order:
        if instance.unit.allow and not instance.context:
            yield from _judge(instance, instance.unit)


def _judge(root: Instance, grant: Unit) -> Iterator[Diagnostic]:
    seen = {id(root)}
    work: list[tuple[Instance, Span | None]] = [(root, None)]
    while work:
        instance, outer = work.pop()
        for act in instance.unit.acts:
            for message in _outside(act, grant):
                span = instance.unit.span(act.step)
                labels = () if outer is None else (Label(span, "this step"),)
                yield Diagnostic(outer or span, "FDC451", message, labels, help=_HELP)
        for loop in _loops(instance.unit.body):
            assert loop.over is not None
            if not listed(loop.over, grant.allow.get("read", []), folder=False):
                message = (
                    f"`for_each_file` may read `{loop.over.text}`, which `allow read` does not name"
                )
                span = instance.unit.span(loop.node)
                labels = () if outer is None else (Label(span, "this loop"),)
                yield Diagnostic(outer or span, "FDC451", message, labels, help=_HELP)
        for call in instance.unit.calls:
            callee = instance.callees[call.number]
            if callee is not None and id(callee) not in seen:
                seen.add(id(callee))
                work.append((callee, outer or instance.unit.span(call.call)))


def _outside(act: Act, grant: Unit) -> Iterator[str]:
    for access, value in act.bound.files:
        kind = "write" if access in _WRITES else "read"
        if not covered(value, grant.allow.get(kind, [])):
            yield f"`{act.step.tool}` may {kind} `{value.text}`, which `allow {kind}` does not name"
    reads = grant.allow.get("read", [])
    for parameter in act.bound.tool.parameters:
        if parameter.kind == "glob" and parameter.access is None:
            pattern = act.bound.arguments.get(parameter.name)
            shown = "**" if pattern is None else pattern.text
            if not (_everything(reads) if pattern is None else listed(pattern, reads, folder=True)):
                yield f"`{act.step.tool}` may read `{shown}`, which `allow read` does not name"
    if reads_at_large(act.bound.tool.row) and not _everything(reads):
        yield f"`{act.step.tool}` may read any file, which needs `allow read **`"
    for kind, globs in act.bound.tool.row.get("access", {}).items():
        if kind in ("read", "write"):
            allowed = grant.allow.get(kind, [])
            known = [compiled([(False, glob.text)]) for glob in allowed if "{" not in glob.text]
            for glob in globs:
                if not _everything(allowed) and not within(glob, known):
                    yield f"`{act.step.tool}` may {kind} `{glob}`, which `allow {kind}` does not name"
    if runs_plan(act.bound.tool.row):
        return  # each step of the plan that it runs is held to the same grants
    if act.bound.tool.row.get("writes") == "unknown" and "run" not in grant.allow:
        yield f"`{act.step.tool}` runs a command, which needs `allow run *`"
    if act.bound.tool.trust == "untrusted" and "net" not in grant.allow:
        yield f"`{act.step.tool}` uses the network, which needs `allow net *`"


def _loops(nodes: list[Node]) -> Iterator[Loop]:
    """The loops over files of a body, at whatever depth."""
    for node in nodes:
        if isinstance(node, Loop):
            if node.kind == "each" and node.over is not None:
                yield node
            yield from _loops(node.body)
        elif isinstance(node, Choice):
            yield from _loops(node.then)
            yield from _loops(node.orelse)


def _everything(globs: list[Value]) -> bool:
    return any(glob.text in ("**", "**/*") for glob in globs)


def listed(value: Value, globs: list[Value], *, folder: bool) -> bool:
    """True where every file of a listing is certainly matched by one of the globs; a computed one by its known beginning."""
    if "{" in value.text:
        return covered(value, globs)
    known = [compiled([(False, glob.text)]) for glob in globs if "{" not in glob.text]
    return _everything(globs) or within(value.text, known, folder=folder)


def covered(value: Value, globs: list[Value]) -> bool:
    """True where every path that the value can stand for is certainly matched by one of the globs."""
    path = path_of(value)
    literal = path[0] if path and isinstance(path[0], str) else ""
    if path and path[0] == ("run",):
        literal = "runs/"
    for glob in globs:
        text = glob.text
        if text in ("**", "**/*"):
            return True
        if len(path) == 1 and isinstance(path[0], str):
            if matches(path[0], text):
                return True
        elif text.endswith("/**") and literal.startswith(text[:-2]) or path == path_of(glob):
            return True
    return False
