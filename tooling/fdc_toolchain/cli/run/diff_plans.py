"""`fdc diff OLD NEW` for plans: changes of meaning, and whether access or cost grew or gates got weaker."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from ...console.options import root_of
from ...exits import CLEAN, FINDINGS, UsageError

if TYPE_CHECKING:
    from ...runs.plan_diff.compare import Compared, Side

_RUN = re.compile(r"last|\d{8}-\d{6}[\w-]*")


def are_plans(one: str, other: str) -> bool:
    """Whether two arguments are plan files. Raises UsageError if that is ambiguous."""
    files = [os.path.isfile(name) for name in (one, other)]
    for name, file in zip((one, other), files, strict=True):
        if file and _RUN.fullmatch(name):
            raise UsageError(
                f"`{name}` is a file and also the beginning of a run's name: write `./{name}` for the file, or change the folder"
            )
    if files[0] != files[1]:
        plan, run = (one, other) if files[0] else (other, one)
        raise UsageError(
            f"`{plan}` is a file, but `{run}` is not: give two plan files, or two names of runs"
        )
    for name in (one, other):
        if not files[0] and os.path.isdir(name):
            raise UsageError(f"`{name}` is a folder; name a file or a run")
        if not files[0] and ("/" in name or name.endswith((".plan", ".txt"))):
            raise UsageError(f"Could not find file `{name}`")
    return files[0]


def plans(
    one: str,
    other: str,
    form: str,
    asked: bool,
    fail_on: tuple[str, ...],
    workspace: str | None,
    before: str | None,
) -> int:
    """Compares two plans, prints the changes; returns the exit code. `before`: the workspace of the old one, if it is another."""
    from ...runs.plan_diff.compare import compare

    root = root_of(workspace)
    roots = (os.path.abspath(before) if before else root, root)
    sides = [_side(path, place) for path, place in zip((one, other), roots, strict=True)]
    if sides[0] is None or sides[1] is None:
        return FINDINGS
    found = compare(sides[0], sides[1])
    failed = [kind for kind in dict.fromkeys(fail_on) if found.grown[kind]]
    if form == "json":
        import json

        rows = [row._asdict() for row in found.differences]
        click.echo(
            json.dumps(
                {
                    "format": 1,
                    "plans": [one, other],
                    "differences": rows,
                    "grown": found.grown,
                    "failed": failed,
                },
                indent=2,
                ensure_ascii=False,
            )
        )
    elif form == "html":
        click.echo(_page(one, other, found), nl=False)
    else:
        _print(one, other, found)
    for kind in failed:
        click.echo(f"fdc: {kind}: `{other}` may have {_WORDS[kind]}", err=True)
    return FINDINGS if failed or asked and found.differences else CLEAN


_WORDS = {"more-access": "more access", "more-cost": "more cost", "weaker-gate": "a weaker gate"}


def _side(path: str, root: str) -> Side | None:
    """A proved plan; None after printing its findings on stderr if it has errors."""
    from ...check import check_paths, program_of
    from ...console.compiling import told_errors
    from ...rules.bounds import Bounds
    from ...runs.plan_diff.compare import MEASURES, Side
    from ...runs.plan_diff.workspaces import facts_of
    from ...workspace.confirmed_settings import settings_of

    settings = settings_of(root)
    checked = check_paths([path], root, settings)
    if told_errors(checked):
        return None
    cost = Bounds().plan(checked.context.graph.instance(checked.keys[0]))
    worst = {name: getattr(cost, name) for name in MEASURES}
    return Side(program_of(checked), worst, facts_of(settings))


def _print(one: str, other: str, found: Compared) -> None:
    from ...console.terminal import say
    from ...report.terminal.terminal_text import cut, visible

    say(f"- {visible(one)}\n+ {visible(other)}")
    heading = ""
    for row in found.differences:
        title = f"{row.what} of {row.where}" if row.what == "steps" else row.what
        if title != heading:
            heading = title
            say(visible(title))
        where = f"{row.where}: " if row.where and row.what != "steps" else ""
        for sign, side in (("-", row.old), ("+", row.new)):
            if side is not None:
                say(f"  {sign} {cut(visible(where + side), 200)}")
    for kind, reasons in found.grown.items():
        if reasons:
            click.echo(f"{kind}:")
            for reason in reasons:
                say(f"  {cut(visible(reason), 200)}")
    if not found.differences:
        click.echo("the same in meaning")


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "td{padding:.1rem .6rem;vertical-align:top;font-family:ui-monospace,monospace;overflow-wrap:anywhere}"
    ".old{background:#fdecea}.new{background:#e7f5ea}"
)


def _page(one: str, other: str, found: Compared) -> str:
    """The differences as one self-contained HTML page without scripts."""
    from html import escape

    from ...report.terminal.terminal_text import visible

    def cell(text: str | None) -> str:
        return "" if text is None else escape(visible(text))

    rows = "".join(
        f"<tr><td>{cell(row.what)}</td><td>{cell(row.where)}</td>"
        f'<td class="old">{cell(row.old)}</td><td class="new">{cell(row.new)}</td></tr>\n'
        for row in found.differences
    )
    grown = "".join(
        f"<h2>{kind}</h2>\n<ul>{''.join(f'<li>{cell(reason)}</li>' for reason in reasons)}</ul>\n"
        for kind, reasons in found.grown.items()
        if reasons
    )
    said = "" if found.differences else "<p>The same in meaning.</p>\n"
    title = f"{cell(one)} and {cell(other)}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body>\n<h1>{title}</h1>\n{grown}{said}"
        f"<table><tr><th>what</th><th>where</th><th>old</th><th>new</th></tr>\n{rows}</table></body></html>\n"
    )
