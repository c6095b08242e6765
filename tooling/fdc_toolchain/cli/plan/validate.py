"""`fdc validate`: follows a plan through its automaton, line by line (FDC-11)."""

from __future__ import annotations

import os

import click

from ...console.options import flag_option, root_of, text_option, there, workspace_option
from ...exits import CLEAN, FINDINGS, reason
from ...linking.catalogue import Catalogue
from ...linking.graph import Instance
from ...linking.model import Act, Choice, Invoke, Loop, Node
from ...rules.solver.words import Machine, Summaries
from ...syntax.tree import Plan

# the groups of rules that `validate` checks: syntax, automata, names of tools, files
_CODES = ("FDC1", "FDC2", "FDC30", "FDC32", "FDC40", "FDC41")


class _Walk:
    """Prints one line for each step, with the states before and after it."""

    def __init__(self, summaries: Summaries) -> None:
        self.summaries = summaries
        self.machine = summaries.machine

    def names(self, mask: int) -> str:
        found = [name for number, name in enumerate(self.machine.states) if mask >> number & 1]
        return " or ".join(found) or "nowhere"

    def body(self, instance: Instance, nodes: list[Node], mask: int) -> int:
        live = ~self.machine.sink
        for node in nodes:
            before = mask
            if isinstance(node, Act):
                after = self.summaries.body(instance, [node], mask)
                symbol = node.bound.action
                if not before:
                    click.echo(f"Line {node.step.line}: NOT REACHED. Action '{node.step.tool}'")
                elif symbol is None:
                    where = self.names(before)
                    click.echo(
                        f"Line {node.step.line}: OK. Action '{node.step.tool}' reads no symbol, stays in {where}"
                    )
                elif after & self.machine.sink:
                    click.echo(
                        f"Line {node.step.line}: REFUSED. Action '{node.step.tool}' ({symbol}) in {self.names(before)}"
                    )
                else:
                    click.echo(
                        f"Line {node.step.line}: OK. Action '{node.step.tool}' ({symbol}) transitions"
                        f" from {self.names(before)} -> {self.names(after)}"
                    )
                mask = after & live
            elif isinstance(node, Loop):
                after = self.summaries.loop(instance, node, mask) & live
                self.body(instance, node.body, after | mask if node.most != 1 else mask)
                mask = after
            elif isinstance(node, Choice):
                self.body(instance, node.then, mask)
                self.body(instance, node.orelse, mask)
                mask = self.summaries.choice(instance, node, mask) & live
            elif isinstance(node, Invoke):
                mask = self.summaries.body(instance, [node], mask) & live
                leads = f"leads from {self.names(before)} -> {self.names(mask)}"
                click.echo(
                    f"Line {node.call.line}: call of '{node.name}' {leads if before else 'is not reached'}"
                )
        return mask


@click.command("validate")
@click.argument("plan")
@workspace_option
@text_option("--fsm", "PATH", "The automaton of plans without an automaton.")
@flag_option(
    "--evidence", "List the steps without a citation, and citations of missing files or lines."
)
def command(plan: str, workspace: str | None, fsm: str | None, evidence: bool) -> int:
    """Follow PLAN through its automaton, line by line, and check its tools and files.

    A fragment (a sub-plan without its own automaton) is followed from every state of the
    default automaton: the output says in which states it can start and end.
    """
    from ...check import check, key_of
    from ...console.terminal import style
    from ...linking.link import Linker
    from ...linking.project.settings import read_settings
    from ...report.hosts.placed import seen_from_here
    from ...report.render import render

    there(plan)
    root = root_of(workspace)
    settings = read_settings(root)
    if fsm:
        settings = settings._replace(fsm=fsm)
    linker = Linker(root, settings)
    checked = check(linker, [key_of(plan, root)])
    context = checked.context
    instance = context.graph.instance(checked.keys[0])
    governing = {id(one): automaton for one, automaton in context.roots}.get(id(instance))
    if governing is not None:
        summaries = context.summaries(Machine.of(governing))
        click.echo(f"Automaton: {governing.name}")
        end = _Walk(summaries).body(instance, instance.unit.body, 1 << governing.start_index)
        click.echo(f"End: {_Walk(summaries).names(end)}")
    elif instance.unit.stated is None and context.default is not None:
        machine = Machine.of(context.default)
        summaries = context.summaries(machine)
        click.echo(f"Fragment: runs in its caller's automaton. Under {machine.name}:")
        for number, name in enumerate(machine.states):
            exits = summaries.call(instance, 1 << number)
            if exits & machine.sink:
                click.echo(f"  from {name}: refused")
            else:
                click.echo(f"  from {name}: ends in {_Walk(summaries).names(exits)}")
    found = [item for item in checked.diagnostics if item.code.startswith(_CODES)]
    bad = any(item.severity == "error" for item in found)
    if found:
        # these rules alone do not prove the plan, so it is not counted as proved
        found, sources = seen_from_here(found, checked.sources, root)
        text = render("text", found, sources, style=style(), files_checked=0, others=1)
        click.echo(text, nl=False)
    else:
        click.echo("Valid.")
    if evidence and instance.unit.plan is not None:
        bad = _evidence(root, instance.unit.plan, linker.catalogue) or bad
    return FINDINGS if bad else CLEAN


_PLAIN = ("plan_op", "step_op", "close_op", "submit_op", None)


def _evidence(root: str, plan: Plan, catalogue: Catalogue) -> bool:
    """FDC-67: prints the evidence of each step (`# evidence: PATH:LINE` above it). True if a citation is wrong."""
    from ...syntax.evidence import place, steps
    from ...syntax.tree import Step

    cited = bare = 0
    wrong = False
    for node, citations in steps(plan):
        name = node.tool if isinstance(node, Step) else "call_plan"
        tool = catalogue.tools.get(name)
        for citation in citations:
            where = place(citation)
            fault = None if where is None else _absent(root, *where)
            if fault:
                wrong = True
                click.echo(f"Line {node.line}: WRONG EVIDENCE. `{citation}`: {fault}")
        if citations:
            cited += 1
        elif tool is not None and tool.action not in _PLAIN:
            bare += 1
            click.echo(f"Line {node.line}: NO EVIDENCE. Action '{name}' cites nothing")
    click.echo(f"Evidence: {cited} steps have citations, {bare} steps that can have one do not.")
    return wrong


def _absent(root: str, path: str, line: int | None) -> str | None:
    from ... import durable

    try:
        data = durable.read(os.path.join(root, path))
    except OSError as refused:
        return reason(refused)
    if data is None:
        return "the file does not exist" if "/" in path or "." in path else None
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return f"the file has {lines} lines" if line is not None and not 1 <= line <= lines else None
