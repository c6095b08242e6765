"""The values of an argument in the plans of a root: texts, globs, and inputs of the run."""

from __future__ import annotations

from collections.abc import Iterator

from ...linking.bound import bound_in, every
from ...linking.graph import Instance
from ...linking.model import BUILT_IN, Act, Invoke, Loop
from ...linking.protocol_rules.obligation import Obligation
from ...named_tuples import NamedTuple
from ...syntax.values import Ref, Value
from ...text import glob_match
from ..solver import events, values
from ..solver.files.step_paths import bound_twice
from ..solver.trace import Leaf


class Given(NamedTuple):
    """An argument of the root's that is the same for a whole run: it is made of what the run is given."""

    value: Value
    leaf: Leaf
    """Its first position."""

    def may_be(self, text: str, kind: str) -> bool:
        """True if the argument has this value on some run."""
        return glob_match.fits(text, glob_match.compiled(events.pattern_of(self.value, kind)))


class Named(NamedTuple):
    """What the plans that a root reaches say about the argument: texts, globs, and whether they go through files.

    `kind` is `path` where the argument is one of a tool's that takes paths, else `word`.
    """

    literals: set[str]
    globs: set[values.Glob]
    files: bool
    kind: str


def named(root: Instance, rule: Obligation) -> Named:  # noqa: C901
    """Everything that distinguishes values."""
    same = rule.same or ""
    reached = list(reached_plans(root))
    nodes = [node for instance in reached for node in every(instance.unit.body)]
    files = any(isinstance(node, Loop) and node.kind == "each" for node in nodes)
    paths = any(
        isinstance(node, Act) and events.kind_of(node, same) in ("path", "glob") for node in nodes
    )
    out = Named(set(), set(), files, "path" if paths else "word")
    for group in rule.events:
        for event in group:
            for name, text in event.arguments:
                if name == rule.same:
                    out.globs.add(values.Glob(glob_match.compiled([(False, text)])))
    for instance in reached:
        for param in instance.unit.params.values():
            if param.default is not None:
                out.literals.add(plain(param.default, out.kind))
    for node in nodes:
        if isinstance(node, Invoke):
            for value in node.arguments.values():
                _name(out, value, out.kind)
        elif isinstance(node, Loop) and node.kind == "each" and node.over is not None:
            literal = node.over.literal
            glob = None if literal is None else values.files_of(literal)
            if glob is not None:
                out.globs.add(glob)
        elif isinstance(node, Act):
            given = node.bound.arguments.get(same)
            if given is not None:
                _name(out, given, out.kind)
            for _, value in node.bound.files if files else ():
                _name(out, value, "path")
    return out


def plain(text: str, kind: str) -> str:
    """A text as the argument has it: a path in its plain form, any other as it is."""
    return glob_match.plain(text) if kind == "path" else text


def _name(out: Named, value: Value, kind: str) -> None:
    pattern = events.pattern_of(value, kind)
    if all(literal for literal, _ in pattern):
        out.literals.add("".join(text for _, text in pattern))
    elif pattern != events.ANYTHING:
        out.globs.add(values.Glob(glob_match.compiled(pattern)))


def reached_plans(root: Instance) -> Iterator[Instance]:
    seen = {id(root)}
    work = [root]
    while work:
        instance = work.pop()
        yield instance
        for callee in instance.callees:
            if callee is not None and id(callee) not in seen:
                seen.add(id(callee))
                work.append(callee)


def given(root: Instance, rule: Obligation) -> list[Given]:
    """The arguments of the root that are made of what the run is given, each once."""
    unit = root.unit
    stable = {*unit.params, *BUILT_IN} - bound_twice(unit) - bound_in(unit.body)
    out: dict[str, Given] = {}
    for node in every(unit.body):
        values_of: list[Value] = []
        if isinstance(node, Act):
            values_of = [
                value for value in (node.bound.arguments.get(rule.same or ""),) if value is not None
            ]
            values_of += [value for _, value in node.bound.files]
        elif isinstance(node, Invoke):
            values_of = list(node.arguments.values())
        for value in values_of:
            names = {part.path[0] for part in value.parts if isinstance(part, Ref)}
            if names and names <= stable and value.text not in out:
                statement = node.step if isinstance(node, Act) else node.call  # type: ignore[union-attr]
                leaf = Leaf(unit.key, statement.line, statement.column, "", True, "value")
                out[value.text] = Given(value, leaf)
    return list(out.values())
