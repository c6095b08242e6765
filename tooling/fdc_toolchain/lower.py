"""Linked plans to a program (`program.model`): everything looked up, nothing left to decide but values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from types import MappingProxyType
from typing import TYPE_CHECKING

from .automata.model import Automaton
from .linking.arguments import one_of
from .linking.catalogue import Tool
from .linking.commands import pieces
from .linking.graph import Graph, Instance
from .linking.model import Act, Choice, Collect, Gate, Invoke, Loop, Node, Unit
from .linking.own_row import targets
from .linking.project import own_modules
from .linking.project.files import Files
from .linking.protocol_rules.obligation import Obligation
from .program.model import FORMAT, KEEPING
from .syntax.evidence import evidence
from .syntax.values import Condition, Ref, Value

if TYPE_CHECKING:
    from .certificate import forms
    from .certificate.forms.rows import Predicate
    from .program.model import Instruction, PlanBody, Program, Template, ToolRow
    from .syntax.conditions import ConditionTree


def lower(
    graph: Graph,
    key: str,
    default: Automaton | None,
    files: Files,
    predicates: Mapping[str, Predicate],
    rules: Iterable[Obligation] = (),
    untrusted: Sequence[str] = (),
    marks: Mapping[tuple[str, int], str] = MappingProxyType({}),
    catalogue: Mapping[str, Tool] = MappingProxyType({}),
) -> Program:
    """The program whose root is the plan under `key`, which must have no error.

    `default` governs a root that names no automaton; `files` is what was read on the way, also for plans, catalogues
    and registries that the program does not reach: those are not in it, so that they do not change its digest;
    `predicates` are all that are declared, `rules` those of the protocols, `untrusted` the globs of the settings. `marks`:
    by plan and line, the steps that write text from outside into files. `catalogue`: every tool that a model may ask for.
    """
    root = graph.instance(key)
    order = graph.order([root])
    automata: dict[str, forms.Automaton] = {}
    tools: dict[str, ToolRow] = {}
    asked: dict[str, Predicate] = {}
    texts: set[str] = set()

    def automaton(instance: Instance) -> str | None:
        found: Automaton | None = instance.unit.automaton
        if instance is root and found is None:
            found = default
        if found is None:
            return None
        automata[found.path] = found.to_json()
        return found.path

    plans: dict[str, PlanBody] = {}
    made = FORMAT
    for instance in order:
        unit = instance.unit
        lowering = _Lowering(instance, tools, predicates, asked, files, texts, marks, catalogue)
        plans[instance.id] = {
            "path": unit.key,
            "name": unit.name,
            "automaton": automaton(instance),
            "params": [
                {"name": param.name, "default": param.default} for param in unit.params.values()
            ],
            "allow": {kind: [glob.text for glob in globs] for kind, globs in unit.allow.items()},
            "body": lowering.body(unit.body),
        }
        if unit.budget and instance is not root:
            plans[instance.id]["budget"] = _budget(unit)
        made = max(made, lowering.made)
    unit = root.unit
    own = own_modules.modules(
        {one for rows in (tools, asked) for row in rows.values() for one in targets(row)}, files
    )
    governed = automaton(root)
    watched = [
        rule.plain() for rule in rules if rule.severity == "error" and rule.applies(key, governed)
    ]
    program: Program = {
        "format": made,
        "root": root.id,
        "plans": plans,
        "automata": automata,
        "tools": tools,
        "predicates": asked,
        "budget": _budget(unit),
        "allow": plans[root.id]["allow"],
        "sources": _sources(files, [*(instance.unit.key for instance in order), *automata, *texts]),
    }
    if watched:
        program["rules"] = watched
    if untrusted:
        program["untrusted"] = list(untrusted)
    if own:
        program["modules"] = _hashes(files, own)
    return program


def _budget(unit: Unit) -> dict[str, float]:
    return {measure: limit for measure, (limit, _) in unit.budget.items()}


def _sources(files: Files, reached: Iterable[str]) -> dict[str, str]:
    """What the program was made of, by key: of all that was read, the plans, automata and texts that it reaches."""
    return _hashes(files, sorted(set(reached)))


def _hashes(files: Files, keys: Iterable[str]) -> dict[str, str]:
    return {
        key: hashlib.blake2b(files.seen.get(key) or b"", digest_size=32).hexdigest() for key in keys
    }


class _Lowering:
    def __init__(
        self,
        instance: Instance,
        tools: dict[str, ToolRow],
        declared: Mapping[str, Predicate],
        asked: dict[str, Predicate],
        files: Files,
        texts: set[str],
        marks: Mapping[tuple[str, int], str],
        catalogue: Mapping[str, Tool],
    ) -> None:
        self.catalogue = catalogue
        self.instance = instance
        self.texts = texts
        self.marks = marks
        self.files = files
        self.tools = tools
        self.declared = declared
        self.asked = asked
        self.made = FORMAT
        self.names = instance.unit.names
        self.evidence = {} if instance.unit.plan is None else evidence(instance.unit.plan)

    def body(self, nodes: list[Node]) -> list[Instruction]:
        """The instructions of a body."""
        return [self.node(node) for node in nodes]

    def template(self, value: Value) -> Template:
        """The template of an argument; in a text block, what nothing binds is text."""
        parts: Template = []
        for part in value.parts:
            if isinstance(part, Ref) and part.path[0] in self.names:
                parts.append({"ref": list(part.path)})
                continue
            text = "{" + ".".join(part.path) + "}" if isinstance(part, Ref) else part
            if parts and isinstance(parts[-1], str):
                parts[-1] += text
            else:
                parts.append(text)
        return parts

    def commands(self, node: Act) -> dict[str, Template]:
        """The templates of commands: what a run finds out stays one word of them."""
        found = {}
        unit = self.instance.unit
        for parameter in node.bound.tool.parameters:
            value = node.bound.arguments.get(parameter.name)
            if parameter.sink == "command" and value is not None and "{" in value.text:
                places = {
                    id(piece.ref): piece.place for piece in pieces(unit, value) if not piece.is_text
                }
                refs = iter(
                    part
                    for part in value.parts
                    if isinstance(part, Ref) and part.path[0] in self.names
                )
                made = self.template(value)
                for part in made:
                    if isinstance(part, dict) and (place := places.get(id(next(refs)))) is not None:
                        part["quote"] = place.quote
                        if place.leads or place.wrong:
                            part["code"] = True
                found[parameter.name] = made
        return found

    def declaration(self, row: ToolRow) -> ToolRow:
        """What is declared of a tool; of a prompt, with the texts that its files hold: the program needs no file."""
        run = row.get("run", {})
        for name in run.get("one_of", ()):
            self.tools.setdefault(name, deepcopy(self.catalogue[name].row))
        if "prompt" not in run:
            return row
        texts: dict[str, str] = {
            kind: self.text(run[kind]) for kind in ("prompt", "schema") if kind in run
        }
        if "calls" in run:
            asked = self.catalogue[run["calls"]].row
            base = json.loads(texts.get("schema", "{}"))
            texts["schema"] = json.dumps(one_of.schema(base, asked, self.catalogue))
            texts["tools"] = one_of.offered(asked, self.catalogue)
        return {**row, "run": {**run, "texts": texts}}

    def text(self, path: str) -> str:
        """A file's text; the linter has seen that it is there."""
        key = self.files.find(path)
        if key is None:
            return ""
        self.texts.add(key)
        return (self.files.definition(key) or b"").decode("utf-8", "replace")

    def condition(self, condition: Condition) -> ConditionTree:
        """A condition's tree; the predicates that it asks go into the program."""
        for name, *_ in condition.predicates:
            if name in self.declared:
                self.asked[name] = deepcopy(self.declared[name])
        return condition.tree

    def node(self, node: Node) -> Instruction:
        """One instruction."""
        if isinstance(node, Act):
            tool = node.bound.tool
            if tool.name not in self.tools:
                self.tools[tool.name] = deepcopy(
                    self.declaration(tool.row)
                )  # the catalogue's rows are everybody's
            cited = self.evidence.get(node.step.line)
            mark = self.marks.get((self.instance.unit.key, node.step.line))
            step: Instruction = {
                "op": "step",
                "line": node.step.line,
                "tool": tool.name,
                "action": node.bound.action,
                "bind": node.step.bind,
                "args": {name: self.template(value) for name, value in node.bound.arguments.items()}
                | self.commands(node),
            }
            if cited:
                step["evidence"] = cited
            if mark:
                step["outside"] = mark
            return step
        if isinstance(node, Invoke):
            return self._call(node)
        if isinstance(node, Loop):
            return self._loop(node)
        if isinstance(node, Choice):
            assert node.condition is not None
            return {
                "op": "if",
                "line": node.node.line,
                "cond": self.condition(node.condition),
                "then": self.body(node.then),
                "else": self.body(node.orelse),
            }
        if isinstance(node, Gate):
            assert node.condition is not None
            return {
                "op": "require",
                "line": node.node.line,
                "cond": self.condition(node.condition),
                "why": node.why,
            }
        assert isinstance(node, Collect) and node.value is not None
        return {"op": "yield", "line": node.node.line, "value": self.template(node.value)}

    def _call(self, node: Invoke) -> Instruction:
        callee = self.instance.callees[node.number]
        if callee is None:
            return {"op": "skip", "line": node.call.line, "bind": node.call.bind}
        return {
            "op": "call",
            "line": node.call.line,
            "plan": callee.id,
            "name": node.name,
            "args": {name: self.template(value) for name, value in node.arguments.items()},
            "bind": node.call.bind,
        }

    def _loop(self, node: Loop) -> Instruction:
        body = self.body(node.body)
        line = node.node.line
        if node.kind == "iterate":
            until = node.until and self.condition(node.until)
            return {"op": "iterate", "line": line, "max": node.most, "until": until, "body": body}
        assert node.over is not None
        if node.keeps:
            self.made = KEEPING
        if node.kind == "each":
            return {
                "op": "each",
                "line": line,
                "glob": self.template(node.over),
                "name": node.name,
                "alias": node.alias,
                "max": node.most,
                "body": body,
            }
        loop: Instruction = {
            "op": node.kind,
            "line": line,
            "name": node.name,
            "in": self.template(node.over),
            "max": node.most,
            "bind": getattr(node.node, "bind", None),
            "body": body,
        }
        if node.keeps:
            loop["keep"] = "failures"
        return loop
