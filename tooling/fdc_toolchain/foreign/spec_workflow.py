"""Spec Kit's workflows: steps in YAML, with gates, shell commands, branches, loops and expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..diagnostics.diagnostic import Diagnostic, Label
from ..diagnostics.span import Span
from . import checks, kinds
from .model import Found, Item, Named, Unreadable

if TYPE_CHECKING:
    from yaml.nodes import MappingNode, Node, ScalarNode

_EXPRESSION = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_STEP = re.compile(r"\bsteps(?:\.([A-Za-z0-9_-]+)|\[\s*['\"]([^'\"]+)['\"]\s*\])((?:\.\w+)*)")
_ITEM = re.compile(r"(?<![\w.])item\b(?!\s*\()")
_EFFECT = re.compile(
    r"\bgit\s+(?:-\S+\s+\S+\s+){0,8}(?:push|send-email)\b"
    r"|\bgh\s+(?:pr|release|issue|repo|workflow)\s+(?:create|merge|close|delete|edit|comment|run)\b"
    r"|\b(?:npm|yarn|pnpm|cargo|poetry|uv|gem)\s+publish\b|\btwine\s+upload\b|\b(?:docker|podman)\s+push\b"
    r"|\b(?:kubectl|helm)\s+(?:apply|delete|install|upgrade|rollout)\b|\bterraform\s+(?:apply|destroy)\b"
    r"|\bcurl\b[^|;&]{0,1000}\s(?:-X\s*(?:POST|PUT|PATCH|DELETE)|--request\s+(?:POST|PUT|PATCH|DELETE)|-d\b|--data\S*|-F\b|-T\b)"
    r"|\brm\s+-\w*[rR]|\b(?:ssh|scp|sftp|sendmail)\s|\brsync\b|\b(?:make|npm\s+run)\s+(?:deploy|publish|release)\b"
    r"|\b(?:aws|gcloud|az|fly|vercel|netlify|heroku)\s+\S*\s*(?:deploy|create|delete|cp|sync|rm|up)\b"
)
_LOOPS = ("while", "do-while")
_NUMBERS = (".exit_code", ".returncode", ".count", ".iterations")
MOST_STEPS = 5_000


class Step(NamedTuple):
    """A step in its place. `gated`: a gate comes before it on every way. `loops`: the loops around it, and itself."""

    id: str
    kind: str
    node: MappingNode
    span: Span
    order: int
    gated: bool
    loops: tuple[int, ...]


def read(path: str, text: str) -> Found:
    """The steps of a workflow, and what is wrong with them. Raises Unreadable."""
    root = _document(path, text)
    steps: list[Step] = []
    _walk(path, _rows(_value(root, "steps")), steps, False, (), 0)
    if not steps:
        raise Unreadable(Span(path, 1, 1, 1, 2), "the workflow has no steps")
    items = [Item(step.id, step.kind, step.span, None, tuple(_waits(path, step))) for step in steps]
    found = checks.check(items, noun="step")
    found += checks.capped(_references(path, steps))
    found += _effects(path, steps)
    gates = sum(1 for step in steps if step.kind == "gate")
    return Found(kinds.SPEC_WORKFLOW, found, [f"Steps: {len(steps)}, {gates} gates"], items)


def _document(path: str, text: str) -> Node:
    import yaml

    try:
        root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as wrong:
        mark = wrong.problem_mark or wrong.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        reason = f"line {line} cannot be read as YAML: {wrong.problem or wrong.context}"
        raise Unreadable(Span(path, line, column, line, column + 1), reason) from wrong
    except (yaml.YAMLError, ValueError, RecursionError) as wrong:
        raise Unreadable(Span(path, 1, 1, 1, 2), "the file cannot be read as YAML") from wrong
    if root is None or root.id != "mapping":
        raise Unreadable(Span(path, 1, 1, 1, 2), "a workflow is a mapping with `steps`")
    _refuse_aliases(path, root)
    return root


def _refuse_aliases(path: str, root: Node) -> None:
    """An alias of a list or a mapping may stand for itself, or for a text of any size."""
    seen: set[int] = set()
    work = [root]
    while work:
        node = work.pop()
        if node.id == "scalar":
            continue
        if id(node) in seen:
            reason = "an alias of YAML stands for this, which is not followed"
            raise Unreadable(_span(path, node), reason)
        seen.add(id(node))
        for part in node.value:
            work += part if node.id == "mapping" else [part]


def _value(node: Node, name: str) -> Node | None:
    rows = node.value if node.id == "mapping" else ()
    return next((value for key, value in rows if key.id == "scalar" and key.value == name), None)


def _rows(node: Node | None) -> list[Node]:
    return [*node.value] if node is not None and node.id == "sequence" else []


def _word(node: Node | None) -> str | None:
    return node.value if node is not None and node.id == "scalar" else None


def _span(path: str, node: Node) -> Span:
    """The place of a node, cut at its first line's end."""
    line, column = node.start_mark.line + 1, node.start_mark.column + 1
    same = node.end_mark.line == node.start_mark.line
    return Span(path, line, column, line, max(node.end_mark.column if same else 0, column) + 1)


def _walk(
    path: str, body: list[Node], steps: list[Step], gated: bool, loops: tuple[int, ...], depth: int
) -> None:
    """The steps of a list and those inside of them, in the order of the text."""
    for node in body if depth <= 40 else ():
        if node.id != "mapping" or len(steps) >= MOST_STEPS:
            continue
        name, kind = _value(node, "id"), _word(_value(node, "type"))
        word, id_ = "command" if kind is None else kind, _word(name)
        id_ = f"step {len(steps) + 1}" if id_ is None else id_
        around = (*loops, len(steps)) if word in _LOOPS else loops
        steps.append(Step(id_, word, node, _span(path, name or node), len(steps), gated, around))
        inner = [_value(node, part) for part in ("then", "else", "steps", "default")]
        cases = _value(node, "cases")
        if cases is not None and cases.id == "mapping":
            inner += [value for _, value in cases.value]
        one = _value(node, "step")
        for rows in (*map(_rows, inner), [one] if one is not None else []):
            _walk(path, rows, steps, gated, around, depth + 1)
        gated = gated or word == "gate"


def _waits(path: str, step: Step) -> Iterator[Named]:
    waits = _value(step.node, "wait_for")
    for row in _rows(waits) or [waits]:
        if row is not None and row.id == "scalar" and "{{" not in row.value:
            yield Named(row.value, _span(path, row))


def _texts(node: Node, name: str = "") -> Iterator[tuple[str, ScalarNode]]:
    """The texts of a step itself, with the name that each stands under; those of steps inside of it are theirs."""
    if node.id == "scalar":
        yield name, node
    elif node.id == "sequence":
        for one in node.value:
            yield from _texts(one, name)
    elif node.id == "mapping":
        for key, value in node.value:
            word = key.value if key.id == "scalar" else ""
            if word not in ("then", "else", "steps", "default", "cases", "step"):
                yield from _texts(value, name or word)


def _references(path: str, steps: list[Step]) -> Iterator[Diagnostic]:
    known = {step.id: step for step in reversed(steps)}
    similar = checks.suggesting(known)
    for step in steps:
        try:
            texts = [*_texts(step.node)]
        except RecursionError as wrong:
            raise Unreadable(step.span, "the step is nested too deeply") from wrong
        for name, node in texts:
            for expression in _EXPRESSION.finditer(node.value, 0, node.value.rfind("}}") + 2):
                for found in _STEP.finditer(expression[1]):
                    yield from _one_reference(path, step, name, node, found, known, similar)
                if step.kind == "shell" and name == "run" and _ITEM.search(expression[1]):
                    yield _in_command(path, node, "an item of the fan-out", ())


def _one_reference(
    path: str,
    step: Step,
    name: str,
    node: ScalarNode,
    found: re.Match[str],
    known: dict[str, Step],
    similar: Callable[[str], str | None],
) -> Iterator[Diagnostic]:
    word = found[1] or found[2]
    other = known.get(word)
    span = _span(path, node)
    if other is None:
        message = f"`{step.id}` uses `steps.{word}`, and the step does not exist"
        yield Diagnostic(span, "FDC811", message, help=similar(word))
        return
    if other.order > step.order and not set(step.loops) & set(other.loops):
        message = f"`{step.id}` uses `steps.{word}`, which comes after it"
        yield Diagnostic(span, "FDC811", message, (Label(other.span, "comes later"),))
    if step.kind == "shell" and name == "run" and not found[3].endswith(_NUMBERS):
        labels = (Label(other.span, "it comes from here"),)
        yield _in_command(path, node, f"text of the step `{word}`", labels)


def _in_command(path: str, node: ScalarNode, what: str, labels: tuple[Label, ...]) -> Diagnostic:
    message = f"the command has {what} in it, which the shell reads as a part of the command"
    help_ = "let the command read it from a file, or let a step that is not a shell step use it"
    return Diagnostic(_span(path, node), "FDC818", message, labels, help=help_)


def _effects(path: str, steps: list[Step]) -> Iterator[Diagnostic]:
    for step in steps:
        run = _value(step.node, "run")
        if step.gated or step.kind != "shell" or run is None:
            continue
        found = _EFFECT.search((_word(run) or "")[:20_000])
        if found is not None:
            words = " ".join(found[0].split())[:40]
            message = f"`{step.id}` does `{words}`, and no gate comes before it on every way"
            help_ = "put a step of the type `gate` before it"
            yield Diagnostic(_span(path, run), "FDC817", message, help=help_)
