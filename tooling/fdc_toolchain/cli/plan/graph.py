"""`fdc graph`: draws an automaton, or a plan with the plans that it calls."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from ... import durable
from ...console.options import choice_option, folder_named, text_option
from ...exits import CLEAN, FINDINGS, UsageError
from ...packs import shipped
from ...text.yaml_text import ENDS

if TYPE_CHECKING:
    from ...diagnostics.diagnostic import Diagnostic
    from ...report.drawing.drawing import Graph

_SUFFIXES = {".svg": "svg", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid"}
Texts = Callable[[str], "str | None"]


@click.command(
    epilog="Exit codes: 0 drawn, 1 errors in what was to be drawn, 2 wrong usage, 3 the environment failed."
)
@click.argument("target")
@choice_option("--format form", ["mermaid", "dot", "svg"], "Default: from the suffix of -o.")
@text_option("-o --output", "FILE", "Write the drawing to FILE instead of standard output.")
@click.option(
    "--workspace",
    metavar="DIR",
    callback=folder_named,
    help="Work as if started in DIR; TARGET is relative to it.",
)
def command(target: str, form: str | None, output: str | None, workspace: str | None) -> int:
    """Draw TARGET: an automaton (a path that ends in .json or .yaml), else a plan by path or registered name.

    A plan with errors is drawn as far as it can be read; its errors go to standard error.
    """
    base = os.path.abspath(workspace or os.curdir)
    graph, found, texts = (
        _automaton(target, base) if target.endswith((".json", *ENDS)) else _plan(target, base)
    )
    if found:
        from ...report.render import render

        click.echo(render("text", found, texts, files_checked=1), err=True, nl=False)
    if graph is not None:
        text = _drawn(
            graph, form or _SUFFIXES.get(os.path.splitext(output or "")[1].lower(), "mermaid")
        )
        if output is None or output == "-":
            click.echo(text, nl=False)
        else:
            durable.output(output, text.encode("utf-8"))
    return FINDINGS if any(item.severity == "error" for item in found) else CLEAN


def _drawn(graph: Graph, form: str) -> str:
    from ...report.drawing import dot, mermaid, svg
    from ...report.drawing.layers import TooLarge

    renders = {"dot": dot.render, "mermaid": mermaid.render, "svg": svg.render}
    try:
        return renders[form](graph)
    except TooLarge as large:
        raise UsageError(f"{large}; `--format dot` and `--format mermaid` have no limit") from large


def _automaton(target: str, base: str) -> tuple[Graph | None, list[Diagnostic], Texts]:
    """The workspace's file, or the shipped file with the same path."""
    from ...automata.load import load
    from ...linking.project.files import refusal
    from ...linking.project.places import Inside
    from ...linking.project.root import find_root, typed
    from ...linking.project.settings import read_settings
    from ...report.drawing.automaton import automaton_graph

    path, root = os.path.join(base, target), find_root(base)
    data = durable.read(path)
    if data is not None:
        if why := refusal(Inside(root), typed(root, path), read_settings(root).secret):
            raise UsageError(f"the automaton `{target}` cannot be used: {why}")
    else:
        data = shipped.read(target)
    if data is None:
        raise UsageError(f"the automaton `{target}` does not exist")
    automaton, found = load(data, target)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return None if automaton is None else automaton_graph(automaton), found, {target: text}.get


def _plan(target: str, base: str) -> tuple[Graph | None, list[Diagnostic], Texts]:
    """The plan and all plans that it calls, and the errors of those that are missing or cannot be read."""
    from ...check import key_of
    from ...diagnostics.diagnostic import ordered
    from ...linking.link import Linker
    from ...linking.project.files import SHIPPED
    from ...linking.project.root import find_root
    from ...linking.project.settings import read_settings
    from ...report.drawing.plan import Drawn, plan_graph

    root = find_root(base)
    linker = Linker(root, read_settings(root))
    path = os.path.join(base, target)
    key = key_of(path, root) if os.path.isfile(path) else linker.resolve(target)[0]
    if key is None:
        raise UsageError(f"the plan `{target}` is neither a file nor a registered name")
    linker.link(key)
    plans = [
        Drawn(
            unit.key,
            unit.name,
            f"automaton {unit.automaton.name}"
            if unit.automaton
            else "fragment"
            if unit.stated is None
            else "",
            unit.plan,
            {call.call.line: call.key for call in unit.calls},
        )
        for unit in linker.units.values()
        if unit.plan is not None
    ]
    found = ordered([item for unit in linker.units.values() for item in unit.diagnostics])
    texts = {unit.key: unit.text for unit in linker.units.values()}
    graph = (
        plan_graph(key.removeprefix(SHIPPED), plans) if linker.units[key].plan is not None else None
    )
    return graph, found, texts.get
