"""Protocols, rules, checks and tools as one graph, and its loose ends: FDC530 to FDC532 (C-10).

A tool that a protocol names is one of three kinds: a plan tool of the catalogue, a file (mostly a script) by
its path, or a Python function by its dotted name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from ...diagnostics.codes import CODES
from ...diagnostics.diagnostic import Diagnostic, ordered
from ...diagnostics.span import Span
from ...linking.protocol_rules.read_checks import place
from ...named_tuples import NamedTuple
from ...narrow import narrow
from ...text.suggest import did_you_mean
from ..load import Sources

if TYPE_CHECKING:
    from networkx import DiGraph

Kind = Literal["tool", "file", "function", "unresolved"]


class World(NamedTuple):
    """What names of tools can refer to.

    `tools` are those of the catalogue, each with the file of the workspace that declares it ("": it comes with fdc);
    `scripts` those in tooling/; `read` gives the text of a file of the workspace (None: there is none); `ships` says
    whether fdc brings a file of this path.
    """

    tools: Mapping[str, str]
    scripts: tuple[str, ...]
    read: Callable[[str], str | None]
    ships: Callable[[str], bool]

    def kind(self, name: str) -> Kind:
        """Which of the three kinds a name is; `unresolved` if none fits."""
        if name in self.tools:
            return "tool"
        if self.read(name) is not None or self.ships(name):
            return "file"
        return (
            "function"
            if "/" not in name and self._defines(*name.rpartition(".")[::2])
            else "unresolved"
        )

    def _defines(self, module: str, name: str) -> bool:
        base = module.replace(".", "/")
        for path in (f"{base}.py", f"{base}/__init__.py"):
            text = self.read(path) if module else None
            if text is not None:
                try:
                    return any(name in _bound(node) for node in ast.parse(text).body)
                except (SyntaxError, ValueError, RecursionError):
                    return False
        return False


class Named(NamedTuple):
    """A tool that a protocol names: where in its source, and for which of its rules (None: for all)."""

    name: str
    where: tuple[str | int, ...]
    rule: int | None


def named(body: Mapping[str, object]) -> list[Named]:
    """The tools that a protocol associates, its own and those of its rules."""
    rows = [
        Named(name, ("associated_tools", at), None)
        for at, name in enumerate(narrow(body.get("associated_tools", []), list))
    ]
    for number, rule in enumerate(narrow(body["rules"], list)):
        names = enumerate(rule.get("associated_tools", ()))
        rows += [
            Named(name, ("rules", number, "associated_tools", at), number) for at, name in names
        ]
    return rows


def protocol_graph(sources: Sources, world: World) -> DiGraph:
    """The graph. Nodes have a `kind` (protocol, rule, check, action, or a kind of tool) and a `label`; edges have a `kind`.

    A protocol `has` rules and `uses` tools; a rule `uses` tools and is `enforced_by` checks; a check `names` tools
    and action types. Equal sources give equal graphs, nodes and edges in the same order.
    """
    import networkx

    graph: DiGraph = networkx.DiGraph(name="protocols")

    def tool(name: str) -> str:
        graph.add_node(f"tool:{name}", kind=world.kind(name), label=name)
        return f"tool:{name}"

    for protocol in sources.protocols:
        body = protocol.body
        owner = f"protocol:{body['protocol_id']}"
        graph.add_node(owner, kind="protocol", label=body.get("protocol_name", body["protocol_id"]))
        for rule in body["rules"]:
            of = f"rule:{body['protocol_id']}/{rule['rule_id']}"
            graph.add_node(of, kind="rule", label=rule["rule_id"], enforced="check" in rule)
            graph.add_edge(owner, of, kind="has")
            check = rule.get("check", {"code": []})
            codes = check.get("code", [])
            for code in [codes] if isinstance(codes, str) else codes:
                name = CODES[code].name if code in CODES else "unknown"
                graph.add_node(f"check:{code}", kind="check", label=f"{code} {name}")
                graph.add_edge(of, f"check:{code}", kind="enforced_by")
            if "template" in check:
                check_node = f"check:{body['protocol_id']}/{rule['rule_id']}"
                graph.add_node(check_node, kind="check", label=check["template"])
                graph.add_edge(of, check_node, kind="enforced_by")
                for word, is_tool in sorted(set(_events(check, world))):
                    if not is_tool:
                        graph.add_node(f"action:{word}", kind="action", label=word)
                    graph.add_edge(
                        check_node, tool(word) if is_tool else f"action:{word}", kind="names"
                    )
        for item in named(body):
            rules = body["rules"]
            user = (
                owner
                if item.rule is None
                else f"rule:{body['protocol_id']}/{rules[item.rule]['rule_id']}"
            )
            graph.add_edge(user, tool(item.name), kind="uses")
    return graph


def loose_ends(sources: Sources, files: Mapping[str, bytes], world: World) -> list[Diagnostic]:
    """Loose ends: tools that no protocol names (FDC530), rules whose check names a tool that their protocol does
    not (FDC531), and names of tools that do not exist (FDC532). `files` has the sources' bytes by path."""
    findings: list[Diagnostic] = []
    mentioned: set[str] = set()
    for protocol in sources.protocols:
        body, data = protocol.body, files[protocol.path]
        rows = named(body)
        mentioned.update(word for row in rows for word in (row.name, row.name.rpartition(".")[2]))
        for row in rows:
            if world.kind(row.name) == "unresolved":
                near = did_you_mean(row.name, [*world.tools, *world.scripts])
                span = place(data, protocol.path, row.where)
                message = f"`{row.name}` is not a tool of the catalogue, no file and no Python function of this workspace"
                findings.append(Diagnostic(span, "FDC532", message, help=near))
        for number, rule in enumerate(body["rules"]):
            mine = {
                part
                for row in rows
                if row.rule in (None, number)
                for part in (row.name, row.name.rpartition(".")[2])
            }
            checked = {word for word, is_tool in _events(rule.get("check", {}), world) if is_tool}
            mentioned |= checked
            for name in sorted(name for name in checked - mine if world.tools[name] not in mine):
                span = place(data, protocol.path, ("rules", number, "check"))
                message = f"the check of `{rule['rule_id']}` names `{name}`, which its protocol does not associate"
                findings.append(
                    Diagnostic(span, "FDC531", message, help=f"add `{name}` to `associated_tools`")
                )
    findings += _unreferenced(mentioned, world)
    return ordered(findings)


def _unreferenced(mentioned: set[str], world: World) -> Iterator[Diagnostic]:
    help_ = "name it in the `associated_tools` of the protocol or rule that says when to use it"
    workspace_tools = sorted(
        (owner, name)
        for name, owner in world.tools.items()
        if owner and not {name, owner} & mentioned
    )
    for owner, name in workspace_tools:
        span = place((world.read(owner) or "").encode(), owner, ("tools", name))
        span = span._replace(end_line=span.line, end_column=span.column + 1)
        yield Diagnostic(span, "FDC530", f"no protocol names the tool `{name}`", help=help_)
    modules = {word.rpartition(".")[0] for word in mentioned}
    for script in world.scripts:
        if script not in mentioned and script.removesuffix(".py").replace("/", ".") not in modules:
            yield Diagnostic(
                Span(script, 1, 1, 1, 2),
                "FDC530",
                f"no protocol names the script `{script}`",
                help=help_,
            )


def _events(check: Mapping[str, Any], world: World) -> Iterator[tuple[str, bool]]:
    """The words for steps in a check by template, each with whether it is a tool's name or else an action type."""
    for letter in "abc":
        events = check.get(letter, ())
        for event in [events] if isinstance(events, str | dict) else events:
            if isinstance(event, str):
                yield event, event in world.tools
            else:
                yield from (
                    (event[key], key == "tool") for key in ("tool", "action") if key in event
                )


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement at the top level of a module binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.ImportFrom | ast.Import):
        return {alias.asname or alias.name for alias in node.names}
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return {target.id for target in targets if isinstance(target, ast.Name)}
