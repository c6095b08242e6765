"""Audits a workspace: do its rules bite, and is it worked as its protocols say (FDC-101)?

What the protocols promise is compared with what stands behind it (checks, codes, the compiled file),
with the plans that are there, and with what the activity log says was really done.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ... import durable
from ...diagnostics.codes import CODES
from ...diagnostics.diagnostic import Diagnostic, ordered
from ...diagnostics.span import Span
from ...linking.link import Linker
from ...linking.model import Unit
from ...linking.project.discover import find_keys
from ...linking.project.settings import Settings
from ...linking.project.stat_cache import Seen
from ...linking.protocol_rules.obligation import Obligation
from ...linking.protocol_rules.read_checks import place
from ...named_tuples import NamedTuple
from ...protocols.load import Protocol, load
from ...rules.solver.events import letters
from ...tasks.activity import LOG
from ...tasks.usage import Usage, usage
from ...text import glob_match
from . import registry

ENFORCED, ADVICE, BROKEN = "enforced", "advice", "broken"
_NAMED = re.compile(r"\bFDC[0-9]{3}\b")


class RuleRow(NamedTuple):
    """A rule: `state` is enforced, advice, or broken (it calls itself enforced and is not); `by` the codes or the template."""

    protocol: str
    rule: str
    state: str
    by: str
    at: Span


class ToolRow(NamedTuple):
    """A tool, the protocols that name it, how often it was used and failed, and its place among the rules (0 to 1)."""

    name: str
    protocols: tuple[str, ...]
    used: int
    failed: int
    centrality: float


class Audit(NamedTuple):
    """All that an audit found out. `findings` has everything that is wrong, and what is worth a look."""

    rules: tuple[RuleRow, ...]
    tools: tuple[ToolRow, ...]
    usage: Usage
    plans: int
    findings: tuple[Diagnostic, ...]

    def count(self, state: str, protocol: str | None = None) -> int:
        """How many rules are in a state, of one protocol or of all."""
        return sum(
            1 for row in self.rules if row.state == state and protocol in (None, row.protocol)
        )

    @property
    def failed(self) -> bool:
        """True where something is an error."""
        return any(item.severity == "error" for item in self.findings)


def audit(
    root: str, settings: Settings, sources: Mapping[str, bytes], built: Sequence[Diagnostic]
) -> Audit:
    """Audits the workspace at `root`; it reads and changes nothing.

    `sources` are the protocol sources by path; `built` is what their build and its comparison with AGENTS.md
    found (FDC501 to FDC506). Raises OSError where a file cannot be read.
    """
    linker = Linker(root, settings)
    protocols = load(sources)[0].protocols
    log = durable.read(os.path.join(root, *LOG.split("/")), limit=1 << 30) or b""
    seen = usage(log)
    findings = [*built, *linker.diagnostics]
    rules = [row for protocol in protocols for row in _rules(protocol, sources, linker, findings)]
    plans = _plans(root, settings, linker)
    findings += _vacuous(linker.obligations, sources, plans)
    owners = _owners(protocols, linker)
    findings += _log(seen)
    findings += _tools(seen, owners, protocols, linker)
    findings += [item for item in registry.audit(root) if item.code != "FDC329"]
    tools = _centrality(seen, owners)
    return Audit(tuple(rules), tools, seen, len(plans), tuple(ordered(findings)))


# ---- the rules ------------------------------------------------------------------------------------


def _rules(
    protocol: Protocol, sources: Mapping[str, bytes], linker: Linker, findings: list[Diagnostic]
) -> list[RuleRow]:
    name = protocol.body["protocol_id"]
    proved = {rule.number: rule for rule in linker.obligations if rule.path == protocol.path}
    silent = set(linker.settings.ignore)
    rows = []
    for number, rule in enumerate(protocol.body["rules"]):
        check = rule.get("check")
        at = place(sources[protocol.path], protocol.path, ("rules", number, "rule_id"))
        label = f"the rule `{rule['rule_id']}` of `{name}`"
        if check is None:
            claim = _claim(rule)
            if claim:
                findings.append(
                    Diagnostic(
                        at, "FDC535", f"{label} {claim}, and has no check",
                        help="give it a `check`, or say in `enforcement` that it is advice",
                    )
                )  # fmt: skip
            rows.append(RuleRow(name, rule["rule_id"], BROKEN if claim else ADVICE, "", at))
            continue
        codes = _codes(check)
        by = ", ".join(codes) if "code" in check else str(check["template"])
        state = ENFORCED
        unknown = [code for code in codes if code not in CODES]
        if unknown or ("code" not in check and number not in proved):
            state = BROKEN
            why = (
                f"names {', '.join(unknown)}, which nothing reports"
                if unknown
                else "has a check that cannot be made out"
            )
            findings.append(
                Diagnostic(
                    at,
                    "FDC535",
                    f"{label} {why}",
                    help="`fdc rules` lists the codes; `fdc lint` says more",
                )
            )
        elif codes and silent.issuperset(codes):
            state = BROKEN
            which = ", ".join(f"`{code}`" for code in codes)
            findings.append(
                Diagnostic(
                    at, "FDC536", f"{label} is enforced by {which}, which the settings ignore",
                    help="take the code out of `ignore`, or the check out of the rule",
                )
            )  # fmt: skip
        rows.append(RuleRow(name, rule["rule_id"], state, by, at))
    return rows


def _codes(check: Mapping[str, Any]) -> list[str]:
    """The codes that a check's breach is reported as."""
    if "code" not in check:
        return ["FDC461"]
    found = check["code"]
    return list(found) if isinstance(found, list) else [found]


def _claim(rule: Mapping[str, Any]) -> str:
    """How a rule without a check calls itself enforced; empty where it does not."""
    if "enforced" in rule.get("tags", ()):
        return "has the tag `enforced`"
    named = _NAMED.search(rule["enforcement"])
    return f"says that {named[0]} enforces it" if named else ""


def _plans(root: str, settings: Settings, linker: Linker) -> list[Unit]:
    keys = find_keys([root], root, settings.exclude, Seen())
    keys += [path for path in linker.registry.entries.values() if path not in keys]
    return [linker.link(key) for key in keys if linker.files.read(key) is not None]


def _vacuous(
    obligations: Iterable[Obligation], sources: Mapping[str, bytes], plans: Sequence[Unit]
) -> Iterable[Diagnostic]:
    """FDC539: rules that say nothing about any plan that is there."""
    if not plans:
        return
    for rule in obligations:
        meant = [unit for unit in plans if _is_meant(rule, unit)]
        # what must not be done is best said by plans that have none of it
        wakes = 0 if rule.template == "absence" else rule.machine.wakes
        steps = (letter for unit in meant for act in unit.acts for letter in letters(rule, act))
        if meant and (not wakes or any(letter & wakes for letter in steps)):
            continue
        at = (
            place(sources[rule.path], rule.path, ("rules", rule.number, "rule_id"))
            if rule.path in sources
            else _top(rule.path)
        )
        why = "none has a step that it speaks of" if meant else "it is about none of them"
        count = f"the {len(plans)} plans" if len(plans) > 1 else "the one plan"
        yield Diagnostic(
            at, "FDC539", f"the rule `{rule.id}` says nothing about {count} here: {why}"
        )


def _is_meant(rule: Obligation, unit: Unit) -> bool:
    if rule.plans and not any(glob_match.matches(unit.key, glob) for glob in rule.plans):
        return False
    return not rule.automata or unit.automaton is None or unit.automaton.path in rule.automata


# ---- the log --------------------------------------------------------------------------------------


def _log(seen: Usage) -> Iterable[Diagnostic]:
    for number in seen.damaged:
        yield Diagnostic(
            _line(number),
            "FDC540",
            "the line is not a log entry: it is not a JSON object",
            help="correct the line, or leave it: fdc skips it",
        )
    for number, why in seen.invalid:
        yield Diagnostic(
            _line(number),
            "FDC540",
            f"the line is not a log entry: {why}",
            help="correct the line, or leave it: fdc skips it",
        )
    for number, kind in seen.odd:
        message = f"`{kind}` is not a type of action that fdc writes"
        yield Diagnostic(_line(number), "FDC540", message, help="the entry is counted all the same")
    for task, number in seen.unclosed:
        message = f"the task `{task}` was started and never closed"
        yield Diagnostic(
            _line(number), "FDC541", message, help="`fdc close --task-id ID` ends a task"
        )


def _owners(protocols: Iterable[Protocol], linker: Linker) -> dict[str, dict[str, str]]:
    """Tool to the protocols that name it, each with the source's path: as their tool, or in a check."""
    owners: dict[str, dict[str, str]] = {}
    for protocol in protocols:
        name = protocol.body["protocol_id"]
        for tool in _stated(protocol):
            if not tool.endswith((".json", ".md")):
                owners.setdefault(tool, {})[name] = protocol.path
    for rule in linker.obligations:
        for event in (event for group in rule.events for event in group):
            for tool in (event.tool, event.name):
                if tool in linker.catalogue.tools:
                    owners.setdefault(str(tool), {})[rule.protocol] = rule.path
    return owners


def _stated(protocol: Protocol) -> set[str]:
    """The tools that a protocol and its rules state as theirs."""
    parts = [protocol.body, *protocol.body["rules"]]
    return {tool for part in parts for tool in part.get("associated_tools", ())}


def _tools(
    seen: Usage,
    owners: Mapping[str, Mapping[str, str]],
    protocols: Sequence[Protocol],
    linker: Linker,
) -> Iterable[Diagnostic]:
    """FDC537 and FDC538: tools that were used and belong to no protocol, and the other way round."""
    if not seen.steps or not protocols:
        return
    used = {use.name for use in seen.tools}
    unread = len(seen.damaged) + len(seen.invalid)
    but = [
        f"{seen.nameless} name none" if seen.nameless else "",
        f"{unread} lines cannot be read"
        if unread > 1
        else "one line cannot be read"
        if unread
        else "",
    ]
    but_said = ", ".join(filter(None, but))
    started = {script.name for script in seen.scripts}
    events = [event for rule in linker.obligations for group in rule.events for event in group]
    by_action = {event.name for event in events if event.name}
    checked = by_action | {event.tool for event in events if event.tool}
    for use in seen.tools:
        declared = linker.catalogue.tools.get(use.name)
        of_a_pack = ("tools", use.name) in linker.catalogue.packs  # which says how it is used
        known = of_a_pack or (declared and declared.action in by_action)
        if use.name not in owners and not known:
            times = "once" if use.used == 1 else f"{use.used} times"
            yield Diagnostic(
                _line(use.line), "FDC537", f"`{use.name}` was used {times}, and no protocol names it",
                help="name it in the `associated_tools` of the protocol that it belongs to",
            )  # fmt: skip
    stated = {tool for protocol in protocols for tool in _stated(protocol)}
    for tool, where in sorted(owners.items()):
        if tool not in stated or tool in checked:
            continue  # a check names it, which may well forbid it
        used_somewhere = (
            _script(tool) in started
            if "/" in tool
            else tool in used or tool.rpartition(".")[2] in used
        )
        if not used_somewhere:
            names = ", ".join(f"`{name}`" for name in sorted(where))
            yield Diagnostic(
                _top(sorted(where.values())[0]),
                "FDC538",
                f"`{tool}` is a tool of {names}, and no step on record "
                + (f"that names its tool used it ({but_said})" if but_said else "used it"),
            )


def _centrality(seen: Usage, owners: Mapping[str, Mapping[str, str]]) -> tuple[ToolRow, ...]:
    """Every tool with its degree centrality in the graph of protocols and tools."""
    if not owners and not seen.tools:
        return ()
    import networkx

    graph = networkx.Graph()
    for tool, where in owners.items():
        graph.add_node(("tool", tool))
        for name in where:
            graph.add_edge(("tool", tool), ("protocol", name))
    uses = {use.name: use for use in seen.tools}
    scripts = {script.name: script for script in seen.scripts}
    graph.add_nodes_from(("tool", name) for name in uses)
    central = networkx.degree_centrality(graph) if len(graph) > 1 else dict.fromkeys(graph, 0.0)
    rows = []
    for kind, tool in graph:
        if kind != "tool":
            continue
        use = (
            scripts.get(_script(tool))
            if "/" in tool
            else uses.get(tool) or uses.get(tool.rpartition(".")[2])
        )
        protocols = tuple(sorted(owners.get(tool, ())))
        rows.append(
            ToolRow(
                tool,
                protocols,
                use.used if use else 0,
                use.failed if use else 0,
                round(central[kind, tool], 4),
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row.centrality, -row.used, row.name)))


def _script(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".py")


def _line(number: int) -> Span:
    return Span(LOG, number, 1, number, 2)


def _top(path: str) -> Span:
    return Span(path, 1, 1, 1, 2)
